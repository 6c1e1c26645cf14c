"""Every route of the application, for tests that hold for all of them."""

from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from shared.intake.otlp.wire.answers import code_of
from web.auth import Access, access_of

# Exports answer with a `google.rpc.Status` instead of the usual error.
EXPORTS = frozenset({"/v1/traces", "/v1/logs", "/v1/metrics"})
UNUSED_ID = "00000000-0000-4000-8000-00000000ffff"


@dataclass(frozen=True)
class Route:
    """A method of a rule: `path` with unused ids, `template` as OpenAPI writes it."""

    method: str
    path: str
    template: str
    access: Access | None

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


# The page of the document, the web UI, and routes below /api.
_OTHERS = ("swagger_ui.", "ui.", "session_mode.")


def routes_of(app: Flask) -> list[Route]:
    """Returns the routes below /v1, without the page that shows the document."""
    found = []
    for rule in app.url_map.iter_rules():
        if rule.endpoint == "docs" or rule.endpoint.startswith(_OTHERS):
            continue
        access = access_of(app.view_functions[rule.endpoint])
        path = app.url_map.bind("").build(rule.endpoint, dict.fromkeys(rule.arguments, UNUSED_ID))
        template = rule.rule
        for name in rule.arguments:
            for spelling in (f"<{name}>", f"<any_id:{name}>", f"<event_id:{name}>"):
                template = template.replace(spelling, f"{{{name}}}")
        found += [
            Route(method, path, template, access)
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        ]
    return found


def require_error(response: TestResponse, status: int, code: str | None = None) -> dict[str, Any]:
    """Returns the body after comparing it with the one error body.

    Of an export it returns the permission that the message names, if any.
    """
    assert response.status_code == status, response.get_data(as_text=True)
    assert response.mimetype == "application/json"
    body: dict[str, Any] = response.get_json()
    if response.request.path in EXPORTS and status != 405:
        assert body.keys() == {"code", "message"}
        assert body["code"] == code_of(status)
        return {"required_permission": body["message"].rpartition(" ")[2]}
    assert {"error", "code", "request_id"} <= body.keys()
    assert body.keys() <= {"error", "code", "request_id", "required_permission", "fields"}
    assert body["request_id"] == response.headers["X-Request-Id"]
    assert code in (None, body["code"])
    return body
