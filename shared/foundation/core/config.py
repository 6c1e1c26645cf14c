"""Typed configuration, read once from the environment.

`Settings` is the only table of variables. Each field is a variable with the same name in upper
case. Its type and bounds are checked when it is read. `python -m shared.foundation.core.config`
prints the table for `docs/run/configuration.md`.
"""

import os
import re
import sys
from collections.abc import Mapping
from email.utils import getaddresses
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.redis_url import SENTINEL_SCHEMES, SentinelUrl

Seconds = Annotated[float, Meta(gt=0)]
Bytes = Annotated[int, Meta(ge=1024)]
Count = Annotated[int, Meta(ge=1)]
Port = Annotated[int, Meta(ge=1, le=65535)]
# Leaves a port for each process type.
FirstPort = Annotated[int, Meta(ge=1, le=65500)]
ClusterName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]+$")]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
HeaderName = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9-]{0,99}$")]
Origin = Annotated[
    str, Meta(pattern=r"^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$")
]
Secret = Annotated[str, Meta(min_length=16, max_length=256)]

_PREFIXES = {
    "database_url": ("postgresql://", "postgres://"),
    "redis_url": ("redis://", "rediss://", "unix://", *SENTINEL_SCHEMES),
    "clickhouse_url": ("clickhouse://", "clickhouses://"),
    "clickhouse_readonly_url": ("clickhouse://", "clickhouses://"),
    "evaluator_endpoint": ("http://", "https://"),
    "public_url": ("http://", "https://"),
    "canary_url": ("http://", "https://"),
    "audit_llm_base_url": ("http://", "https://"),
    "assistant_base_url": ("http://", "https://"),
    "judge_base_url": ("http://", "https://"),
    "oidc_issuer": ("http://", "https://"),
    "otel_exporter_otlp_endpoint": ("http://", "https://"),
    "otel_exporter_otlp_traces_endpoint": ("http://", "https://"),
}

# If the first variable is set, the second one is required.
_NEEDS = {
    "smtp_host": "smtp_from",
    "smtp_username": "smtp_password",
    "audit_llm_base_url": "audit_llm_model",
    "assistant_base_url": "assistant_models",
    "judge_base_url": "judge_models",
    "oidc_issuer": "oidc_client_id",
    "otlp_grpc_tls_cert": "otlp_grpc_tls_key",
    "otlp_grpc_tls_key": "otlp_grpc_tls_cert",
}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a process; `load_settings` reads it."""

    # Stores
    database_url: Annotated[str, "PostgreSQL, `postgresql://user@host/db`"]
    redis_url: Annotated[
        str,
        "Redis or Valkey, `redis://host:6379/0`, or sentinels (`docs/run/growing.md`)",
    ]
    clickhouse_url: Annotated[
        str, "ClickHouse, native protocol, `clickhouse://user:pw@host:9000/db`"
    ]
    clickhouse_readonly_url: Annotated[str | None, "read-only ClickHouse user for people's SQL"] = (
        None
    )
    clickhouse_cluster: Annotated[
        ClusterName | None,
        "name of the cluster in `remote_servers` (`docs/run/cluster.md`); unset: one server",
    ] = None
    clickhouse_pool_size: Annotated[Count, "most ClickHouse connections of a process"] = 16
    database_pool_size: Annotated[Count, "most PostgreSQL connections of a process"] = 16
    redis_replicas: Annotated[
        int,
        Meta(ge=0),
        "Redis replicas that must have a batch before it is accepted (`docs/run/growing.md`)",
    ] = 0

    # Web
    port: Annotated[Port, "port of `web`"] = 8000
    web_bind: Annotated[
        str, "listening address of `web` and `otlp-grpc`; 0.0.0.0 if only `PORT` is set"
    ] = "127.0.0.1"
    web_concurrency: Annotated[Count, "web processes"] = 2
    web_threads: Annotated[Count, "requests that a web process serves at once"] = 64
    web_receive_timeout_secs: Annotated[Seconds, "maximum time for a request's body; then 408"] = 30
    public_url: Annotated[str | None, "URL that people use"] = None
    log_level: Annotated[
        str,
        Meta(pattern="^(debug|info|warning|error)$"),
        "lowest level: debug, info, warning or error",
    ] = "info"
    log_format: Annotated[
        str,
        Meta(pattern="^(auto|json|console)$"),
        "json, console, or auto: console on a terminal",
    ] = "auto"

    # Identity
    admin_key: Annotated[
        Secret | None, "secret of the instance key `admin`, 16 to 256 characters"
    ] = None
    agent_api_key: Annotated[
        Secret | None, "secret of the key `dashboard-assistant`, 16 to 256 characters"
    ] = None
    admin_email: Annotated[str | None, "protected first member of the default organization"] = None
    sign_in_link_hash: Annotated[
        Sha256 | None,
        "set by `bin/up` alone: SHA-256 of its sign-in link's token",
    ] = None
    sign_in_codes: Annotated[
        bool, "sign-in with mailed codes; 0: at the provider only, needs `OIDC_ISSUER`"
    ] = True
    default_user_permissions: Annotated[
        str,
        "permission set of new members, if the organization names none; no process starts if no set"
        " has this name",
    ] = "standard"
    trusted_proxy_hops: Annotated[
        int, Meta(ge=0), "proxies in front, each adding to X-Forwarded-For"
    ] = 0
    proxy_auth_header: Annotated[
        HeaderName | None,
        "header in which a trusted proxy names a person's address (docs/use/people.md)",
    ] = None
    proxy_auth_secret: Annotated[
        Secret | None, "the proxy's `X-Service-Proxy-Secret`, 16 to 256 characters"
    ] = None
    proxy_auth_from: Annotated[str | None, "the proxy's addresses or networks, comma-separated"] = (
        None
    )

    # Sign-in at a provider
    oidc_issuer: Annotated[
        str | None,
        "OpenID Connect provider (docs/use/people.md); unset: codes only",
    ] = None
    oidc_client_id: Annotated[str | None, "our id there; required with `OIDC_ISSUER`"] = None
    oidc_client_secret: Annotated[str | None, "our secret there; unset: a public client (PKCE)"] = (
        None
    )
    oidc_name: Annotated[str, Meta(min_length=1, max_length=40), "its name on the button"] = (
        "single sign-on"
    )
    oidc_scopes: Annotated[str, "requested scopes, space-separated"] = "openid email"
    oidc_allowed_domains: Annotated[
        str | None, "domains whose addresses may sign in there, comma-separated; unset: all"
    ] = None
    oidc_groups: Annotated[
        str | None,
        "permission sets by group, as JSON (docs/use/people.md)",
    ] = None

    # Mail
    smtp_host: Annotated[
        str | None, "mail server; unset: sign-in codes go to the log, other mails fail"
    ] = None
    smtp_port: Annotated[Port, "its port; 465: TLS from the first byte"] = 587
    smtp_username: Annotated[str | None, "user name there; unset: no sign-in"] = None
    smtp_password: Annotated[str | None, "password of `SMTP_USERNAME`"] = None
    smtp_from: Annotated[str | None, "sender, `a@b` or `Name <a@b>`; required with `SMTP_HOST`"] = (
        None
    )
    smtp_tls: Annotated[bool, "only TLS with a valid certificate; 0: in clear"] = True

    org_mails_per_day: Annotated[
        Count, "most mails of an organization in 24 hours, without sign-in codes"
    ] = 1000

    # Ingest
    ingest_max_body_bytes: Annotated[Bytes, "maximum size of a POST /events, as sent"] = (
        16 * 1024 * 1024
    )
    ingest_max_unpacked_bytes: Annotated[Bytes, "the same after decompression"] = 128 * 1024 * 1024
    ingest_max_event_bytes: Annotated[Bytes, "maximum size of an event"] = 1024 * 1024
    ingest_backlog_bytes: Annotated[Bytes, "accepted events that wait in Redis; above it 503"] = (
        512 * 1024 * 1024
    )
    ingest_sync: Annotated[bool, "answer only once Redis has the batch on disk (WAITAOF)"] = True
    ingest_concurrency: Annotated[Count, "batches that a web process unpacks at once"] = 8
    ingest_claim_idle_secs: Annotated[
        Seconds, "time until another worker takes a dead one's batches"
    ] = 15
    ingest_processes: Annotated[Count, "ingest processes of a `worker` or `ingest`"] = 2

    # OpenTelemetry
    otlp_max_bytes: Annotated[
        Bytes, "maximum size of an export, before and after decompression"
    ] = 20 * 1024 * 1024
    otlp_grpc_port: Annotated[
        int, Meta(ge=0, le=65535), "port of `otlp-grpc`; 0: it does not run"
    ] = 4317
    otlp_grpc_tls_cert: Annotated[
        str | None,
        "PEM file with the certificates of `otlp-grpc`; unset: in clear",
    ] = None
    otlp_grpc_tls_key: Annotated[
        str | None, "PEM file with their private key; required with `OTLP_GRPC_TLS_CERT`"
    ] = None
    otlp_grpc_public_url: Annotated[
        Origin | None,
        "`http://host:port` or `https://host:port` of the proxy for `otlp-grpc`; unset: the host of"
        " `PUBLIC_URL` with `OTLP_GRPC_PORT`",
    ] = None

    # Evaluation
    evaluator_endpoint: Annotated[
        str | None, "base URL of the evaluator; unset: no evaluations"
    ] = None
    evaluator_token: Annotated[str | None, "its bearer token"] = None
    evaluator_orgs: Annotated[str | None, "slugs that may use it, comma-separated; unset: all"] = (
        None
    )
    evaluator_workers: Annotated[
        Count,
        "times `EVALUATOR_CLAIM_BATCH`: calls and polls at once in the whole deployment",
    ] = 2
    evaluator_claim_batch: Annotated[
        Count,
        "the other factor; only the product counts",
    ] = 4
    evaluator_polling_interval_secs: Annotated[
        Seconds, "polling interval, if the evaluator names none"
    ] = 10
    evaluator_request_timeout_ms: Annotated[Count, "time limit of a whole request to it"] = 30000
    evaluator_max_attempts: Annotated[Count, "attempts before a job ends in error"] = 5
    evaluator_config_refresh_secs: Annotated[Seconds, "interval at which its /config is read"] = 300
    evaluator_max_poll_duration_secs: Annotated[
        Seconds, "maximum time to poll an asynchronous job"
    ] = 3600
    evaluator_calls: Annotated[
        Count, "calls at once to organizations' own evaluators, in the whole deployment"
    ] = 16
    evaluator_sql_concurrency: Annotated[
        Count, "statements of `sql` evaluators at once in the whole deployment"
    ] = 2
    evaluator_lease_secs: Annotated[
        int, Meta(ge=4, le=3600), "time for which a worker of a pool has a run"
    ] = 120
    evaluator_allow_private: Annotated[
        str | None,
        "addresses of evaluators beside public ones: hosts, addresses, networks, comma-separated;"
        " 1: all",
    ] = None
    judge_base_url: Annotated[
        str | None, "OpenAI-compatible server of judges that name none; unset: none"
    ] = None
    judge_models: Annotated[
        str | None, "its models, comma-separated; required with `JUDGE_BASE_URL`"
    ] = None
    judge_api_key: Annotated[str | None, "its bearer token; unset: requests carry none"] = None
    secrets_key: Annotated[
        Secret | None,
        "seals the secrets of evaluators, 16 to 256 characters; unset: they are stored in clear",
    ] = None

    # Watching
    webhook_allow_private: Annotated[
        bool, "1: webhooks and Slack may reach loopback, private, link-local addresses"
    ] = False
    alert_query_concurrency: Annotated[
        Count, "`custom_sql` statements at once in the whole deployment"
    ] = 4
    audit_llm_base_url: Annotated[
        str | None, "OpenAI-compatible server for audit reports; unset: no reports"
    ] = None
    audit_llm_model: Annotated[str | None, "its model; required with `AUDIT_LLM_BASE_URL`"] = None
    audit_llm_api_key: Annotated[str | None, "its bearer token; unset: requests carry none"] = None

    # Assistant
    assistant_base_url: Annotated[
        str | None, "OpenAI-compatible server of the assistant; unset: no assistant"
    ] = None
    assistant_models: Annotated[
        str | None,
        "its models, comma-separated, the default first; required with `ASSISTANT_BASE_URL`",
    ] = None
    assistant_api_key: Annotated[str | None, "its bearer token; unset: requests carry none"] = None

    # Prices
    model_prices_file: Annotated[
        str | None,
        "file with newer prices of models (`CONTRIBUTING.md`); unset: the release's",
    ] = None

    # Exports
    export_target: Annotated[
        str | None,
        "folder or `s3://BUCKET/PREFIX` for scheduled exports (`docs/use/reading.md`); unset: none",
    ] = None

    # Monitoring
    metrics_port: Annotated[
        FirstPort | None,
        "first port for metrics (`docs/run/operate.md`); unset: none",
    ] = None
    metrics_bind: Annotated[str, "listening address for metrics"] = "127.0.0.1"

    otel_exporter_otlp_endpoint: Annotated[
        str | None,
        "URL of a collector for traces of Watchpost itself (`docs/run/operate.md`); unset: none",
    ] = None
    otel_exporter_otlp_traces_endpoint: Annotated[str | None, "the same with its path; it wins"] = (
        None
    )

    canary_interval_secs: Annotated[
        float,
        Meta(ge=0),
        "time between canaries (`docs/run/operate.md`); 0: none",
    ] = 60
    canary_url: Annotated[
        str | None, "URL of `web` for canaries; unset: `PORT` here, else `PUBLIC_URL`"
    ] = None

    # Readiness
    ready_max_ingest_lag_secs: Annotated[Seconds, "/ready is 503 if a waiting batch is older"] = 60
    ready_max_job_age_secs: Annotated[
        Seconds, "/ready is 503 if a due evaluation has waited longer"
    ] = 300

    @property
    def assistant_choices(self) -> tuple[str, ...]:
        """Returns the models of the assistant, the default one first; none without a server."""
        return _listed(self.assistant_models) if self.assistant_base_url is not None else ()

    @property
    def judge_choices(self) -> tuple[str, ...]:
        """Returns the models of judges that name no server; none without `JUDGE_BASE_URL`."""
        return _listed(self.judge_models) if self.judge_base_url is not None else ()

    @property
    def traces_url(self) -> str | None:
        """Returns the full URL that gets traces of this process; None while they are off."""
        if self.otel_exporter_otlp_traces_endpoint is not None:
            return self.otel_exporter_otlp_traces_endpoint
        base = self.otel_exporter_otlp_endpoint
        return None if base is None else f"{base.removesuffix('/')}/v1/traces"

    @property
    def evaluator_concurrency(self) -> int:
        """Returns how many calls to the evaluator may run at once in the whole deployment."""
        return self.evaluator_workers * self.evaluator_claim_batch

    def may_evaluate(self, org_slug: str) -> bool:
        """Returns whether sessions of this organization go to the evaluator at all."""
        if self.evaluator_endpoint is None:
            return False
        if self.evaluator_orgs is None:
            return True
        return org_slug in {slug.strip() for slug in self.evaluator_orgs.split(",")}


def _listed(names: str | None) -> tuple[str, ...]:
    """Returns the distinct names of a comma-separated list."""
    stripped = (name.strip() for name in (names or "").split(","))
    return tuple(dict.fromkeys(name for name in stripped if name))


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Reads `Settings` from `environ` (default: the process's); an empty variable counts as unset.

    Raises `ConfigurationError` naming the first variable that is missing or invalid. The message
    does not repeat the value, which may be a secret.
    """
    raw = _given(os.environ if environ is None else environ)
    for name, value in raw.items():
        _require_sane(name, value)
    try:
        settings = msgspec.convert(raw, Settings, strict=False)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$.")
        raise ConfigurationError(f"{path.rstrip('`').upper()}: {reason}") from None
    _require_complete(raw, settings)
    if settings.redis_url.startswith(SENTINEL_SCHEMES):
        try:
            SentinelUrl.parse(settings.redis_url)
        except ValueError as error:
            raise ConfigurationError(f"REDIS_URL: {error}") from None
    if settings.smtp_from is not None and not _is_one_address(settings.smtp_from):
        raise ConfigurationError("SMTP_FROM: expected one address, `a@b` or `Name <a@b>`")
    return settings


def _require_sane(name: str, value: str) -> None:
    if is_placeholder(value):
        raise ConfigurationError(
            f"{name.upper()} still has the value of an example: choose a random one"
        )
    prefixes = _PREFIXES.get(name)
    if prefixes and not value.startswith(prefixes):
        raise ConfigurationError(f"{name.upper()} must start with {' or '.join(prefixes)}")


def _require_complete(raw: Mapping[str, Any], settings: Settings) -> None:
    for name, needed in _NEEDS.items():
        if name in raw and needed not in raw:
            raise ConfigurationError(f"{needed.upper()} is not set, and {name.upper()} needs it")
    if not settings.sign_in_codes and settings.oidc_issuer is None:
        raise ConfigurationError(
            "SIGN_IN_CODES=0 needs OIDC_ISSUER: without both, nobody could sign in"
        )


def is_placeholder(value: str) -> bool:
    """Returns whether a secret, or the password in a URL, is one of our examples, known to all."""
    return re.match(r"(\w+://[^/@]*:)?change-me", value, re.IGNORECASE) is not None


def _given(source: Mapping[str, str]) -> dict[str, Any]:
    """Returns the values that are set, by the names of their fields."""
    raw: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        value = source.get(field.name.upper(), "").strip()
        if value:
            raw[field.name] = value
        elif field.required:
            raise ConfigurationError(f"{field.name.upper()} is not set")
    if "port" in raw:
        # A platform that chooses the port sends its requests from another machine.
        raw.setdefault("web_bind", "0.0.0.0")  # noqa: S104
    return raw


def _is_one_address(text: str) -> bool:
    found = getaddresses([text]) if text.isprintable() else []
    return len(found) == 1 and re.fullmatch(r"[^@\s]+@[^@\s]+", found[0][1]) is not None


def variables_table() -> str:
    """Returns a Markdown table of every variable with its default and its description."""
    hints = get_type_hints(Settings, include_extras=True)
    rows = [
        (f"`{field.name.upper()}`", _shown_default(field), hints[field.name].__metadata__[-1])
        for field in msgspec.structs.fields(Settings)
    ]
    lines = [f"| {name} | {default} | {description} |" for name, default, description in rows]
    return "\n".join(["| variable | default | description |", "|---|---|---|", *lines])


def _shown_default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if field.required:
        return "required"
    if value is None:
        return "unset"
    if isinstance(value, int) and value >= 1024 * 1024:
        return f"`{value}` ({value // (1024 * 1024)} MiB)"
    return f"`{str(value).lower()}`"


if __name__ == "__main__":
    sys.stdout.write(variables_table() + "\n")
