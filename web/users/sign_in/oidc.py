"""Sign-in at the provider: two pages between which the browser is there.

They exist where OIDC_ISSUER is set. Both are for browsers, so their errors are pages too.
"""

import re
from html import escape
from http import HTTPStatus
from typing import cast

from flask import Blueprint, Flask, Response, current_app, request
from werkzeug.exceptions import NotFound

from shared.access.users.sign_in.oidc import flows, service
from shared.access.users.sign_in.oidc.configuration import CALLBACK_PATH, OidcConfig
from shared.access.users.sign_in.oidc.provider import Provider
from shared.foundation.core.errors import Unauthorized, WatchpostError
from shared.foundation.core.logs import get_logger
from web import session_cookie
from web.auth import public
from web.client_address import client_of_request
from web.headers import CONTENT_POLICY
from web.request_log import request_id
from web.state import runtime, state
from web.users.sign_in import cookie
from web.users.sign_in.browser import browser_of_request

START_PATH = "/sign-in/oidc"

_NAME = "oidc"

log = get_logger(__name__)

# A path of the UI. A second slash, or a backslash that browsers read as one, begins a host.
_NEXT = re.compile(r"/(?![/\\])[^\x00-\x20\\\x7f]{0,2000}")
# Of the errors that providers send, which are defined; anybody can write another one into the URL.
_DENIED = {
    "access_denied": "the provider did not let you sign in",
    "login_required": "sign in at the provider first, then try again",
    "temporarily_unavailable": "the provider is busy: try again later",
}
_PROVIDER_IS_AWAY = {"provider_unavailable", "provider_misconfigured"}

blueprint = Blueprint(_NAME, __name__)


def use(app: Flask, config: OidcConfig) -> None:
    """Makes an application sign people in at this provider, of which nothing is read yet."""
    app.extensions[_NAME] = Provider(config)


@blueprint.get(START_PATH)
@public
def start() -> Response:
    """Send the browser to the provider."""
    _require_get()
    state().sign_in_limits.count_start(client_of_request())
    wanted = request.args.get("next", "/")
    next_path = wanted if _NEXT.fullmatch(wanted) else "/"
    url, begun = service.begin(runtime(), _provider(), next_path)
    cookie.give_flow(begun.state, begun.browser, flows.LIFETIME_SECS, CALLBACK_PATH)
    return _redirect(url)


@blueprint.get(CALLBACK_PATH)
@public
def come_back() -> Response:
    """Take the person whom the provider sends back."""
    _require_get()
    state().sign_in_limits.count_try(client_of_request())
    given = request.args.get("state", "")
    flow = flows.take(runtime().redis, given, cookie.take_flow(given, CALLBACK_PATH))
    _provider().require_issuer(request.args.get("iss"))
    opened = service.finish(runtime(), _provider(), flow, _code(), browser_of_request())
    session_cookie.give(opened.token, opened.ttl_secs)
    return _redirect(flow.next)


def _provider() -> Provider:
    return cast("Provider", current_app.extensions[_NAME])


def _require_get() -> None:
    # Programs that look at links send HEAD, and must not use a code up.
    if request.method != "GET":
        raise NotFound


def _code() -> str:
    error = request.args.get("error")
    if error is not None:
        named = error if error in _DENIED else "other"
        log.info("oidc_sign_in_denied", error=named)
        refusal = Unauthorized(
            _DENIED.get(error, "the provider reports an error: tell the operator"),
            code="provider_denied",
        )
        service.record_failure(runtime(), refusal)
        raise refusal
    code = request.args.get("code", "")
    if not code:
        raise Unauthorized("the provider sent no code: start again", code="provider_denied")
    return code


def _redirect(url: str) -> Response:
    return Response(status=303, headers={"Location": url})


@blueprint.errorhandler(WatchpostError)
def _page(error: WatchpostError) -> Response:
    """Says what is wrong. Nothing of the request or of the provider's answer is on the page."""
    log.info("oidc_sign_in_failed", error_code=error.code, status=error.status)
    sentence = f"{error.message[0].upper()}{error.message[1:]}."
    if error.code in _PROVIDER_IS_AWAY and runtime().settings.sign_in_codes:
        sentence += " You can sign in with a code meanwhile."
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>Sign in</title></head><body><main>'
        f"<h1>{HTTPStatus(error.status).phrase}</h1><p>{escape(sentence)}</p>"
        f'<p><a href="/sign-in">Back to the sign-in page</a></p><p>Request {request_id()}</p>'
        "</main></body></html>"
    )
    response = Response(html, error.status, mimetype="text/html")
    response.headers[CONTENT_POLICY] = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
    if error.retry_after_secs is not None:
        response.headers["Retry-After"] = str(error.retry_after_secs)
    return response
