"""Clients in session mode, which sign people in at the dashboard's origin and call `/api`.

They have names of their own for some paths, for the cookie and for a header. A request gets ours
before it is routed, and the route below `/v1` answers it, with all of its rules. The routes that
they know exist below `/api` and no others, and only sessions count there.
"""

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from werkzeug.routing import Map

from web.paths import Change, pattern_of
from web.session_cookie import SessionCookie, accept_only

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PREFIX = "/api/"
COOKIE = SessionCookie("ae_session", "/api")

# Routes by their path below /v1; `*` stands for an id. Of the first group they only read.
_READ = frozenset(
    {
        "events",
        "events/summary",
        "events/error_summary",
        "events/latency_aggregate",
        "events/environments",
        "events/models",
        "events/agent_ids",
        "events/event_types",
        "events/tool_names",
        "events/hook_names",
        "events/error_types",
        "events/trigger_events",
    }
)
_ROUTES = frozenset(
    {
        *("auth/otp/request", "auth/otp/verify", "auth/session", "auth/logout", "access-granters"),
        *("sessions", "sessions/*", "sessions/*/export", "sessions/*/re-evaluate"),
        *("evaluations", "evaluations/aggregate", "evaluations/environments"),
        *("evaluations/score_keys", "evaluations/metric_keys", "evaluation-jobs"),
        *("queries", "queries/*", "queries/run", "queries/schema", "dashboards"),
        *("keys", "keys/*", "keys/*/disable", "keys/*/regenerate"),
        *("users", "users/*", "users/*/enable", "users/defaults"),
        *("permission-sets", "permission-sets/*", "settings", "settings/*", "settings/schema"),
        *("settings/model-context-windows", "settings/model-context-windows/resolve"),
        *("alerts", "alerts/*", "alerts/*/test", "alerts/*/incidents", "alerts/recipients"),
        *("alerts/incidents", "alerts/incidents/count", "alerts/incidents/*"),
        *("audits", "usage", "usage/windows"),
        *("agent/health", "agent/chat", "agent/conversations"),
    }
)
# Everything below these belongs to them.
_TREES = ("dashboards/", "alerts/incidents/*/", "audits/", "agent/conversations/")
# Their names, as patterns of whole paths, and ours; a name of ours that they lack leads nowhere.
_NAMES = tuple(
    (re.compile(theirs), ours)
    for theirs, ours in (
        (r"evaluations/(score|metric)-keys", r"evaluations/\1_keys"),
        (r"evaluations/(score|metric)_keys", ""),
        (r"issues(/.*)?", r"alerts/incidents\1"),
        (r"alerts/([^/]+)/issues", r"alerts/\1/incidents"),
    )
)
_ID = re.compile("<[^>]+>")
_EXPORT = "sessions/*/export"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# The variables of headers.
_THEIR_ORG, _OUR_ORG = "HTTP_X_AGENTEYE_ORG", "HTTP_X_SERVICE_ORG"


def mapped(routes: Map) -> Change:
    """Returns the change of requests below `/api`; other paths there stay and are not found."""
    # A fixed path before one with an id in the same place: it may not be among theirs.
    rules = sorted({rule.rule for rule in routes.iter_rules()}, key=lambda rule: rule.count("<"))
    known = [(pattern_of(rule), _ID.sub("*", rule).removeprefix("/v1/")) for rule in rules]

    def change(environ: "WSGIEnvironment") -> None:
        path: str = environ["PATH_INFO"]
        if not path.startswith(PREFIX):
            return
        accept_only(COOKIE, environ)
        if _THEIR_ORG in environ:
            environ[_OUR_ORG] = environ[_THEIR_ORG]
        name = _our_name(path.removeprefix(PREFIX))
        ours = f"/v1/{name}"
        rule = next((rule for pattern, rule in known if pattern.fullmatch(ours)), None)
        if rule is None or not _is_theirs(rule, environ["REQUEST_METHOD"]):
            return
        environ["PATH_INFO"] = ours
        if rule == _EXPORT:
            _prefer_array(environ)

    return change


def _our_name(path: str) -> str:
    for theirs, ours in _NAMES:
        if match := theirs.fullmatch(path):
            return match.expand(ours)
    return path


def _is_theirs(rule: str, method: str) -> bool:
    if rule in _READ:
        return method in _READING
    return rule in _ROUTES or rule.startswith(_TREES)


def _prefer_array(environ: "WSGIEnvironment") -> None:
    """Asks for one JSON array where the query names no format."""
    query = environ.get("QUERY_STRING", "")
    if "format" not in parse_qs(query):
        environ["QUERY_STRING"] = f"{query}&format=array"
