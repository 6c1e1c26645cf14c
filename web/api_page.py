"""The page at /v1/docs that shows the OpenAPI document."""

import base64
import hashlib
import re

from flask import Flask, Response, make_response
from flask_swagger_ui import get_swaggerui_blueprint

from web.headers import CACHE_CONTROL, CONTENT_POLICY, DATA

PAGE_URL = "/v1/docs"

_BLUEPRINT = "swagger_ui"
_VIEW = f"{_BLUEPRINT}.show"
_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def publish(app: Flask, document_url: str) -> None:
    """Serves the page and its files."""
    page = get_swaggerui_blueprint(
        PAGE_URL,
        document_url,
        # No validator: it would send every reader's browser to a third party's server.
        config={
            "app_name": "Watchpost",
            "validatorUrl": None,
            "oauth2RedirectUrl": f"{PAGE_URL}/oauth2-redirect.html",
        },
        blueprint_name=_BLUEPRINT,
    )
    app.register_blueprint(page)
    show = app.view_functions[_VIEW]

    def protected(path: str | None = None) -> Response:
        response = make_response(show(path=path))
        response.headers[CACHE_CONTROL] = DATA[CACHE_CONTROL]
        if response.mimetype == "text/html":
            # A file is passed through by default, and its text cannot be searched.
            response.direct_passthrough = False
            response.headers[CONTENT_POLICY] = _policy(response.get_data())
        return response

    app.view_functions[_VIEW] = protected
    # The path without the slash works too. A redirect would have a body that is not ours.
    app.add_url_rule(PAGE_URL, "docs", protected)


def _policy(page: bytes) -> str:
    """Returns what the page needs: its own files, its one inline script, and requests to here."""
    hashes = [
        base64.b64encode(hashlib.sha256(one).digest()).decode() for one in _SCRIPT.findall(page)
    ]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none';"
        " frame-ancestors 'none'"
    )
