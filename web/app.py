"""The web application: `create_app(runtime)`. A server runs the one of `web.wsgi`."""

from flask import Flask

from shared.evaluation.evaluators.addresses import allowed_addresses
from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from shared.reading.prices.builtin import builtin_prices
from web import (
    caller,
    errors,
    headers,
    limits,
    openapi,
    request_log,
    request_trace,
    session_mode,
    state,
)
from web.alerts import routes as alerts
from web.assistant import routes as assistant
from web.audit_log import routes as audit_log
from web.audits import routes as audits
from web.audits.findings import routes as findings
from web.budgets import routes as budgets
from web.conversations import routes as conversations
from web.costs import routes as costs
from web.dashboards import routes as dashboards
from web.deletions import routes as deletions
from web.dimensions import routes as dimensions
from web.evaluation_jobs import routes as evaluation_jobs
from web.evaluations import routes as evaluations
from web.evaluator_pools import routes as evaluator_pools
from web.evaluators import routes as evaluators
from web.events import routes as events
from web.exports import routes as exports
from web.health import routes as health
from web.identity import routes as identity
from web.incidents import routes as incidents
from web.keys import routes as keys
from web.mcp import routes as mcp
from web.model_windows import routes as model_windows
from web.otlp import routes as otlp
from web.otlp import status as otel_status
from web.paths import AnyPath, BeforeRouting, keep_encoded_slashes, keep_fixed_paths, renamed
from web.permissions import routes as permission_sets
from web.prices import routes as prices
from web.queries import routes as queries
from web.receipts import routes as receipts
from web.repricings import routes as repricings
from web.rule import RouteRule
from web.sessions import routes as sessions
from web.settings import routes as settings
from web.ui import routes as ui
from web.usage import routes as usage
from web.users import routes as users
from web.users.sign_in import link as sign_in_link
from web.users.sign_in import routes as sign_in

# One line for each resource: its blueprint.
BLUEPRINTS = (
    openapi.blueprint,
    health.blueprint,
    events.blueprint,
    otlp.blueprint,
    otel_status.blueprint,
    identity.blueprint,
    sign_in.blueprint,
    keys.blueprint,
    users.blueprint,
    permission_sets.blueprint,
    sessions.blueprint,
    evaluations.blueprint,
    budgets.blueprint,
    dimensions.blueprint,
    evaluation_jobs.blueprint,
    evaluators.blueprint,
    evaluator_pools.blueprint,
    exports.blueprint,
    deletions.blueprint,
    queries.blueprint,
    dashboards.blueprint,
    incidents.blueprint,
    audits.blueprint,
    findings.blueprint,
    alerts.blueprint,
    assistant.blueprint,
    conversations.blueprint,
    mcp.blueprint,
    audit_log.blueprint,
    settings.blueprint,
    model_windows.blueprint,
    prices.blueprint,
    repricings.blueprint,
    costs.blueprint,
    usage.blueprint,
    receipts.blueprint,
)

# The limit for JSON bodies. POST /events and exports have their own.
_MAX_BODY_BYTES = 2 * 1024 * 1024


def create_app(runtime: Runtime) -> Flask:
    """Creates the application. It opens no connection before the first request.

    Raises `ConfigurationError`.
    """
    builtin_prices(runtime.settings.model_prices_file)
    allowed_addresses(runtime.settings.evaluator_allow_private)
    app = Flask("web", static_folder=None)
    app.url_rule_class = RouteRule
    app.config["MAX_CONTENT_LENGTH"] = _MAX_BODY_BYTES
    app.url_map.merge_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined] # keep the schema's order
    state.attach(app, runtime)
    if runtime.settings.traces_url is not None:
        request_trace.init_app(app)
    request_log.init_app(app)
    caller.init_app(app)
    headers.init_app(app)
    limits.init_app(app)
    errors.init_app(app)
    openapi.publish(app, BLUEPRINTS)
    app.url_map.converters["any_path"] = AnyPath
    app.register_blueprint(ui.blueprint)
    if runtime.settings.sign_in_link_hash is not None:
        app.register_blueprint(sign_in_link.blueprint)
    if runtime.settings.oidc_issuer is not None:
        _sign_in_at_provider(app, runtime.settings)
    keep_fixed_paths(app)
    app.wsgi_app = BeforeRouting(  # type: ignore[method-assign] # as in Flask's docs
        app.wsgi_app,
        keep_encoded_slashes,
        renamed({**otlp.ALIASES, **mcp.ALIASES}),
        session_mode.mapped(app.url_map),
    )
    return app


def _sign_in_at_provider(app: Flask, settings: Settings) -> None:
    """Adds the pages of sign-in at a provider; raises `ConfigurationError`."""
    # Loaded only where they are used: the packages for it take memory in every process.
    from shared.access.users.sign_in.oidc.configuration import config_of
    from web.users.sign_in import oidc

    oidc.use(app, config_of(settings))
    app.register_blueprint(oidc.blueprint)
