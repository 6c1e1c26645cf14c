"""Every route of the application, for tests that hold for all of them."""

from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from web.auth import Access, access_of

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


def routes_of(app: Flask) -> list[Route]:
    """Returns the routes below /v1, without the page that shows the document."""
    found = []
    for rule in app.url_map.iter_rules():
        if rule.endpoint == "docs" or rule.endpoint.startswith("swagger_ui."):
            continue
        access = access_of(app.view_functions[rule.endpoint])
        path = app.url_map.bind("").build(rule.endpoint, dict.fromkeys(rule.arguments, UNUSED_ID))
        template = rule.rule
        for name in rule.arguments:
            for spelling in (f"<{name}>", f"<any_id:{name}>"):
                template = template.replace(spelling, f"{{{name}}}")
        found += [
            Route(method, path, template, access)
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        ]
    return found


def require_error(response: TestResponse, status: int, code: str | None = None) -> dict[str, Any]:
    """Returns the body after comparing it with the one error body."""
    assert response.status_code == status, response.get_data(as_text=True)
    assert response.mimetype == "application/json"
    body: dict[str, Any] = response.get_json()
    assert {"error", "code", "request_id"} <= body.keys()
    assert body.keys() <= {"error", "code", "request_id", "required_permission", "fields"}
    assert body["request_id"] == response.headers["X-Request-Id"]
    assert code in (None, body["code"])
    return body
