"""The web UI: one page of HTML for all of its paths, and the files that the page loads.

The page contains no data. Its scripts read `/v1` like any other client.
"""

import re
from pathlib import Path

from flask import Blueprint, Response, request, send_from_directory
from werkzeug.exceptions import NotFound

from web.auth import public
from web.headers import CACHE_CONTROL, CONTENT_POLICY, DATA
from web.state import runtime
from web.ui import shell
from web.ui.policy import new_nonce, page_policy

blueprint = Blueprint("ui", __name__)

STATIC = Path(__file__).parent / "static"

# A name that contains a hash never gets another content.
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"[\w.-]+-[A-Z0-9]{8}\.(?P<suffix>js|css|svg)")
_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@blueprint.get("/", endpoint="root")
@blueprint.get("/sign-in", endpoint="sign_in")
@blueprint.get("/profile", endpoint="profile")
@blueprint.get("/o/<any_path:page>", endpoint="page")
@public
def page(page: str = "") -> Response:  # noqa: ARG001 the client reads the path itself
    """Return the page of every path of the UI; 503 with a sentence if there is no bundle."""
    if not shell.is_built(STATIC):
        return Response(f"{shell.NOT_BUILT}\n", 503, mimetype="text/plain")
    nonce = new_nonce()
    settings = runtime().settings
    html = shell.render(
        STATIC,
        nonce,
        mail_is_set_up=settings.smtp_host is not None,
        provider=settings.oidc_name if settings.oidc_issuer is not None else None,
        codes=settings.sign_in_codes,
    )
    response = Response(html, mimetype="text/html")
    response.headers[CONTENT_POLICY] = page_policy(nonce)
    response.headers[CACHE_CONTROL] = DATA[CACHE_CONTROL]
    return response


@blueprint.get("/ui/<name>")
@public
def asset(name: str) -> Response:
    """Return a file of the bundle, compressed beforehand where the client accepts gzip."""
    match = _HASHED.fullmatch(name)
    if match is None:
        raise NotFound
    packed = request.accept_encodings["gzip"] > 0 and (STATIC / f"{name}.gz").is_file()
    response = send_from_directory(
        STATIC, f"{name}.gz" if packed else name, mimetype=_TYPES[match["suffix"]]
    )
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.headers[CACHE_CONTROL] = _FOREVER
    response.headers["Vary"] = "Accept-Encoding"
    return response
