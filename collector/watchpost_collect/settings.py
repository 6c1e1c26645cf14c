"""Where Watchpost is, the key for it, and the folders that are read unless others are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from watchpost_collect.errors import UsageError


@dataclass(frozen=True)
class Target:
    """A deployment of Watchpost. `prefix` is the path below which its `/v1` is."""

    scheme: str
    host: str
    port: int
    prefix: str
    key: str

    @property
    def url(self) -> str:
        """Returns the address as people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


def read_target(url: str | None, key_file: str | None, environ: Mapping[str, str]) -> Target:
    """Returns the deployment that options or variables name. Raises `UsageError`."""
    address = (url or environ.get("WATCHPOST_URL", "")).strip()
    if not address:
        raise UsageError("no URL: set WATCHPOST_URL or give --url, as in http://127.0.0.1:8000")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"the URL {address!r} is malformed: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"the URL {address!r} must look like https://watchpost.example.com")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError("the URL may hold a host, a port and a path only; the key is given apart")
    prefix = parts.path.rstrip("/")
    if prefix.endswith("/v1"):
        prefix = prefix[: -len("/v1")]
    return Target(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or (443 if parts.scheme == "https" else 80),
        prefix=prefix,
        key=_read_key(key_file, environ),
    )


def _read_key(key_file: str | None, environ: Mapping[str, str]) -> str:
    key = environ.get("WATCHPOST_KEY", "")
    if key_file:
        try:
            key = Path(key_file).expanduser().read_text()
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the key file: {error}") from error
    key = key.strip()
    if not key:
        raise UsageError("no key: set WATCHPOST_KEY or give --key-file, with permission events:add")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("the key must be one line of printable ASCII characters without spaces")
    return key


@dataclass(frozen=True)
class Folders:
    """The sources of `watch`. A folder of transcripts is None if it was not asked for."""

    events: tuple[Path, ...]
    otlp: tuple[Path, ...]
    claude: Path | None
    codex: Path | None


def default_folders(environ: Mapping[str, str], home: Path) -> Folders:
    """Returns every default, transcripts included."""
    failproofai = Path(environ.get("FAILPROOFAI_HOME") or home / ".failproofai").expanduser()
    return Folders(
        events=(
            failproofai / "custom-agents" / "events",
            home / ".agenteye" / "events",
            home / ".watchpost" / "spool" / "events",
        ),
        otlp=(failproofai / "state" / "spool-otlp",),
        claude=home / ".claude" / "projects",
        codex=home / ".codex" / "sessions",
    )


def default_state(home: Path) -> Path:
    """Returns the folder of the collector's own files."""
    return home / ".watchpost" / "collect"
