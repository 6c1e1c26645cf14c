"""The variables of the processes of `bin/up`: the user's own, and one for each that is missing."""

import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import msgspec

from devstack.errors import StackError
from devstack.ports import free_port, is_free
from devstack.stack import StackUrls

_DEFAULT_PORT = 8000
_DEFAULT_GRPC_PORT = 4317

# A server of the stack is not needed when the user sets its variable.
_SERVER_OF = {
    "DATABASE_URL": "postgres",
    "REDIS_URL": "redis",
    "CLICKHOUSE_URL": "clickhouse",
}


def servers_to_start(given: Mapping[str, str]) -> set[str]:
    """Returns the servers of the stack whose URL the user did not give."""
    return {server for variable, server in _SERVER_OF.items() if not given.get(variable)}


def store_urls(urls: StackUrls, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the store variables; the given ones win.

    The stack's read-only ClickHouse user is useless when the user brings another ClickHouse.
    """
    ours = {name.upper(): url for name, url in asdict(urls).items()}
    if given.get("CLICKHOUSE_URL"):
        ours.pop("CLICKHOUSE_READONLY_URL")
    return {name: given.get(name) or url for name, url in ours.items()}


def for_orgctl(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that the operator's tool needs to work on this deployment."""
    names = (*_SERVER_OF, "CLICKHOUSE_CLUSTER", "DEFAULT_USER_PERMISSIONS")
    return {name: environ[name] for name in names if environ.get(name)}


def orgctl_file(directory: Path) -> Path:
    """Returns the file that `bin/orgctl` reads while the deployment runs."""
    return directory / "orgctl.env"


def write_orgctl_file(directory: Path, environ: Mapping[str, str]) -> None:
    """Writes one variable per line, and this process id, which shows whether it is stale."""
    lines = [f"{name}={value}" for name, value in for_orgctl(environ).items()]
    path = orgctl_file(directory)
    path.touch(mode=0o600)
    path.write_text("\n".join([f"# process {os.getpid()}", *lines, ""]))


def web_port(given: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Returns the port for `web`: PORT, or 8000, or a free one, which is reported to `say`.

    Raises `StackError` when the given PORT is taken or not a number.
    """
    return _port(given, "PORT", _DEFAULT_PORT, "web", say)


def grpc_port(given: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Returns the port for `otlp-grpc` in the same way: OTLP_GRPC_PORT, or 4317; 0 for none."""
    if given.get("OTLP_GRPC_PORT") == "0":
        return 0
    return _port(given, "OTLP_GRPC_PORT", _DEFAULT_GRPC_PORT, "otlp-grpc", say)


def _port(
    given: Mapping[str, str], name: str, default: int, program: str, say: Callable[[str], None]
) -> int:
    wanted = given.get(name)
    if wanted:
        if not wanted.isdecimal() or not is_free(int(wanted)):
            raise StackError(
                f"{name}={wanted} is taken or is not a port number: choose another port or unset it"
            )
        return int(wanted)
    if is_free(default):
        return default
    port = free_port()
    say(f"port {default} is taken: {program} listens on {port} instead")
    return port


def secrets_for(directory: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Returns ADMIN_KEY, AGENT_API_KEY and EVALUATOR_TOKEN, given or generated.

    Generated ones are kept in `keys.json`, so that a key copied yesterday works today.
    """
    path = directory / "keys.json"
    kept = msgspec.json.decode(path.read_bytes(), type=dict[str, str]) if path.exists() else {}
    for name, prefix in (("ADMIN_KEY", "wpa_"), ("AGENT_API_KEY", "wpd_"), ("EVALUATOR_TOKEN", "")):
        if not given.get(name):
            kept.setdefault(name, prefix + secrets.token_urlsafe(24))
    path.touch(mode=0o600)
    path.write_bytes(msgspec.json.encode(kept))
    return {name: given.get(name) or value for name, value in kept.items()}


def search_path(given: Mapping[str, str]) -> str:
    """Returns PATH with this environment's scripts first, for `python` and `gunicorn`."""
    scripts = str(Path(sys.executable).parent)
    return f"{scripts}:{given['PATH']}" if given.get("PATH") else scripts
