"""Headers on every answer, by which browsers protect people.

An answer is data unless it says otherwise: browsers run nothing of it and keep no copy. A page sets
a `Content-Security-Policy` of its own, and a file that browsers may keep sets `Cache-Control`.
"""

from urllib.parse import urlsplit

from flask import Flask, Response

from web.state import runtime

CONTENT_POLICY = "Content-Security-Policy"
CACHE_CONTROL = "Cache-Control"

# Of data, which are all answers without other values.
DATA = {
    CONTENT_POLICY: "default-src 'none'; frame-ancestors 'none'",
    CACHE_CONTROL: "no-store",
}
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# A year. It leaves subdomains alone, which may be services of others.
_ONLY_TLS = {"Strict-Transport-Security": "max-age=31536000"}


def of_every_answer(public_url: str | None) -> dict[str, str]:
    """Returns the headers of all answers of a deployment with this PUBLIC_URL."""
    over_tls = urlsplit(public_url or "").scheme == "https"
    return _ALWAYS | (_ONLY_TLS if over_tls else {})


def init_app(app: Flask) -> None:
    """Registers the hook."""
    app.after_request(_protect)


def _protect(response: Response) -> Response:
    response.headers.update(of_every_answer(runtime().settings.public_url))
    for name, value in DATA.items():
        response.headers.setdefault(name, value)
    return response
