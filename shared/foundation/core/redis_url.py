"""The form of REDIS_URL that names sentinels instead of the server."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

SENTINEL_SCHEMES = ("redis+sentinel://", "rediss+sentinel://")
_SENTINEL_PORT = 26379
_FORM = re.compile(
    r"redis(?P<tls>s?)\+sentinel://(?P<login>[^/?#]*@)?(?P<sentinels>[^/?#@]+)"
    r"/(?P<primary>[A-Za-z0-9._-]+)(?:/(?P<database>\d+))?/?(?P<options>\?.*)?"
)


@dataclass(frozen=True)
class SentinelUrl:
    """`redis+sentinel://user:password@one:26379,two:26379/main/0?option=value` in its parts.

    `primary` is the name under which the sentinels know the servers. `server` is the URL of a
    server on a host that is still unknown, with the login, the database and the options.
    """

    sentinels: tuple[tuple[str, int], ...]
    primary: str
    server: str

    @classmethod
    def parse(cls, url: str) -> "SentinelUrl":
        """Raises `ValueError`, without the URL, which contains a password."""
        form = _FORM.fullmatch(url)
        if form is None:
            raise ValueError("expected redis+sentinel://host:26379,host:26379/name")
        scheme, login = f"redis{form['tls']}", form["login"] or ""
        place = f"/{form['database'] or 0}{form['options'] or ''}"
        return cls(
            tuple(map(_address, form["sentinels"].split(","))),
            form["primary"],
            f"{scheme}://{login}unknown{place}",
        )


def _address(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None:
        raise ValueError("expected host:port for each sentinel, with commas between them")
    return host, port or _SENTINEL_PORT
