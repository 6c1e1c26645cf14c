"""Paths that plain routing would misread.

Ids with a slash in a path: `/v1/sessions/a%2Fb/export` is the export of session `a/b`.

WSGI decodes the path before routing, so that slash looks like every other one. The raw path is
still available. It is decoded again, with a stand-in for encoded slashes, a control
character that no id can hold. The converter of `<any_id:…>` turns it back into a slash.

Aliases: a path at which programs of others expect a route.

Fixed paths next to ids: `/v1/queries/run` is never the query with the id `run`, for any method.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

from flask import Flask, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import BaseConverter

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_STAND_IN = "\x1f"
_REFUSED = "\x1e"
# Before an id, so that no client normalises `.` and `..`, and `totals` is no fixed path. No id has
# it: ids are without control characters.
_LITERAL = "\x1d"
_DIGITS = re.compile("[0-9]{1,16}")


Change = Callable[["WSGIEnvironment"], None]


class BeforeRouting:
    """WSGI middleware that changes requests before they are routed, in this order."""

    def __init__(self, app: "WSGIApplication", *changes: Change) -> None:
        self._app = app
        self._changes = changes

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Passes the request on."""
        for change in self._changes:
            change(environ)
        return self._app(environ, start_response)


def keep_encoded_slashes(environ: "WSGIEnvironment") -> None:
    """Keeps encoded slashes of a path apart from those between its segments."""
    # gunicorn and Werkzeug use RAW_URI, other servers REQUEST_URI.
    raw: str = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
    # A stand-in in the request itself becomes another control character, and thereby no id.
    path: str = environ["PATH_INFO"].replace(_STAND_IN, _REFUSED)
    if "%2f" in raw.lower():
        path = _decode(raw)[len(environ.get("SCRIPT_NAME", "")) :]
    environ["PATH_INFO"] = path


def renamed(aliases: Mapping[str, str]) -> Change:
    """Returns the change that serves routes at further paths; `aliases` maps these to theirs."""

    def rename(environ: "WSGIEnvironment") -> None:
        path = environ["PATH_INFO"]
        environ["PATH_INFO"] = aliases.get(path, path)

    return rename


def _decode(raw_uri: str) -> str:
    path = raw_uri.partition("?")[0] if raw_uri.startswith("/") else urlsplit(raw_uri).path
    segments = path.replace("%2f", "%2F").replace("%1f", "%1F").replace("%1F", "%1E").split("%2F")
    # WSGI wants each byte of the path as the character of that number.
    return _STAND_IN.join(unquote_to_bytes(part).decode("latin-1") for part in segments)


class AnyId(BaseConverter):
    """A caller's own id in a path, of any characters, if need be behind `%1D`."""

    regex = r"[^/]+"
    part_isolating = True

    def to_python(self, value: str) -> str:
        """Returns the id as the caller knows it."""
        return value.removeprefix(_LITERAL).replace(_STAND_IN, "/")


class AnyPath(BaseConverter):
    """The rest of a path, of any characters: line breaks and empty segments too."""

    regex = r"[\s\S]*"
    part_isolating = False


class EventId(BaseConverter):
    """The id of an event in a path, a number of 53 bits."""

    regex = r"[^/]+"
    part_isolating = True

    def to_python(self, value: str) -> int | None:
        """Returns the number, None for any other text."""
        return int(value) if _DIGITS.fullmatch(value) else None


def keep_fixed_paths(app: Flask) -> None:
    """Answers 405 where routing would take a fixed path's unsupported method for that of an id."""
    methods: dict[str, set[str]] = defaultdict(set)
    for rule in app.url_map.iter_rules():
        methods[rule.rule] |= rule.methods or set()
    # Only rules of the same length can be alike.
    alike: dict[int, list[str]] = defaultdict(list)
    for name in methods:
        alike[name.count("/")].append(name)
    narrower = {
        wide: [
            (pattern_of(fixed), methods[fixed])
            for fixed in alike[wide.count("/")]
            if _is_narrower(fixed, wide)
        ]
        for wide in methods
        if "<" in wide
    }

    @app.before_request
    def refuse() -> None:
        rule = request.url_rule
        for pattern, known in narrower.get(rule.rule, ()) if rule else ():
            if pattern.fullmatch(request.path):
                raise MethodNotAllowed(known)


def _is_narrower(fixed: str, wide: str) -> bool:
    """Returns whether a rule is another one with a fixed word in place of an id."""
    pairs = zip(fixed.split("/"), wide.split("/"), strict=True)
    return fixed != wide and all(
        one == other or (one and "<" in other and "<" not in one) for one, other in pairs
    )


def pattern_of(rule: str) -> re.Pattern[str]:
    """Returns the pattern of the paths of a rule."""
    return re.compile(re.sub(r"<[^>]+>", "[^/]+", rule))
