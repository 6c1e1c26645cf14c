"""One span for each request, while traces of Watchpost itself are on."""

from contextlib import ExitStack

from flask import Flask, Response, g, request

from shared.foundation.core.tracing import spans
from web.request_log import QUIET_ROUTES, request_id

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def init_app(app: Flask) -> None:
    """Registers the two hooks."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.traced = ExitStack()
    g.span = g.traced.enter_context(_span())


def _span() -> spans.BlockSpan:
    route = None if request.url_rule is None else request.url_rule.rule
    # Monitoring asks all the time, and a span of sending spans would never end.
    if route in QUIET_ROUTES or request.headers.get("User-Agent") == spans.USER_AGENT:
        return spans.silence()
    method = request.method if request.method in _METHODS else "_OTHER"
    attributes = {
        "http.request.method": method,
        "url.scheme": request.scheme,
        "watchpost.request.id": request_id(),
    }
    if route is not None:
        # The template, not the path: ids and search terms stay out of traces.
        attributes["http.route"] = route
    verb = "HTTP" if method == "_OTHER" else method
    sent = request.headers.get("traceparent")
    return spans.work(
        verb if route is None else f"{verb} {route}",
        kind="server",
        attributes=attributes,
        causes=() if sent is None else (sent,),
    )


def _end(response: Response) -> Response:
    if "span" in g:
        g.span.note("http.response.status_code", response.status_code)
        if response.status_code >= 500:
            g.span.fail(str(response.status_code))
        if g.get("identity") is not None:
            g.span.note(spans.ORGANIZATION, str(g.identity.org_id))
        # After the last byte, so that a streamed export is timed as a whole.
        response.call_on_close(g.traced.close)
    return response
