"""/api for clients in session mode: the same answers as /v1, and nothing else of it."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.access.permissions import ALL
from shared.foundation.deployment.runtime import Runtime
from tests.security.world import World
from tests.support.events import event, store_events
from tests.support.people import add_member, new_email, new_member, signed_in
from tests.support.routes import require_error, routes_of
from tests.support.runtime import make_org
from tests.support.sign_in import Visitor, new_code

# Paths below /v1 that have other names, or one more.
NAMES = (
    (r"evaluations/(score|metric)_keys", [r"evaluations/\1-keys"]),
    (r"alerts/incidents(/.*)?", [r"alerts/incidents\1", r"issues\1"]),
    (r"alerts/([^/]+)/incidents", [r"alerts/\1/incidents", r"alerts/\1/issues"]),
)
READ = (
    "events events/summary events/error_summary events/latency_aggregate events/environments"
    " events/models events/agent_ids events/event_types events/tool_names events/hook_names"
    " events/error_types events/trigger_events"
)
ANY = (
    "auth/otp/request auth/otp/verify auth/session auth/logout access-granters sessions sessions/*"
    " sessions/*/export sessions/*/re-evaluate evaluations evaluations/aggregate"
    " evaluations/environments evaluations/score_keys evaluations/metric_keys evaluation-jobs"
    " queries queries/* queries/run queries/schema dashboards keys keys/* keys/*/disable"
    " keys/*/regenerate users users/* users/*/enable users/defaults permission-sets"
    " permission-sets/* settings settings/* settings/schema settings/model-context-windows"
    " settings/model-context-windows/resolve alerts alerts/* alerts/*/test alerts/*/incidents"
    " alerts/recipients alerts/incidents alerts/incidents/count alerts/incidents/* audits usage"
    " usage/windows agent/conversations agent/health agent/chat"
)
# Without it some answers reach to the present.
DAY = "ts_from=2026-11-02T00:00:00Z&ts_to=2026-11-03T00:00:00Z"
BELOW = ("dashboards/", "alerts/incidents/*/", "audits/", "agent/conversations/")


def is_theirs(method: str, template: str) -> bool:
    name = re.sub(r"\{\w+\}", "*", template).removeprefix("/v1/")
    return (
        (name in READ.split() and method == "GET") or name in ANY.split() or name.startswith(BELOW)
    )


def their_paths(path: str) -> list[str]:
    """Returns the paths below /api of a path below /v1."""
    name = path.removeprefix("/v1/")
    for ours, theirs in NAMES:
        if match := re.fullmatch(ours, name):
            return [f"/api/{match.expand(one)}" for one in theirs]
    return [f"/api/{name}"]


@pytest.fixture
def anyone(app: Flask) -> FlaskClient:
    """A client without a cookie jar."""
    return app.test_client(use_cookies=False)


@pytest.fixture
def token(runtime: Runtime, ours: World) -> str:
    """The session of a person with all permissions in the organization of `ours`."""
    return new_member(runtime, ours.org, *ALL)["Authorization"].removeprefix("Bearer ")


def told(response: TestResponse) -> tuple[int, str | None, Any]:
    """Returns what the two answers to a request must have in common."""
    if response.mimetype != "application/json":
        return response.status_code, response.mimetype, response.data
    body = response.get_json()
    if isinstance(body, dict):
        body.pop("request_id", None)
    return response.status_code, response.mimetype, body


def test_their_paths_answer_as_ours_and_the_rest_is_not_there(
    app: Flask, anyone: FlaskClient, ours: World, token: str
) -> None:
    compared, absent = 0, 0
    for route in routes_of(app):
        if route.template == "/v1/auth/logout":
            continue
        paths = [route.path]
        # The values of an open incident reach to the present, and two answers differ.
        if route.method == "GET" and not route.template.endswith("{incident_id}/values"):
            paths += list(ours.paths(route.template))[:2]
        for path in paths:
            body: Any = [] if route.method in ("POST", "PUT", "PATCH") else None
            our_cookie, cookie = (
                {"Cookie": f"{name}={token}"} for name in ("service_session", "ae_session")
            )
            for theirs in their_paths(path):
                answer = anyone.open(
                    f"{theirs}?{DAY}", method=route.method, json=body, headers=cookie
                )
                if not is_theirs(route.method, route.template):
                    require_error(answer, 404, "route_not_found")
                    absent += 1
                    continue
                form = "&format=array" if path.endswith("/export") else ""
                expected = anyone.open(
                    f"{path}?{DAY}{form}", method=route.method, json=body, headers=our_cookie
                )
                assert told(answer) == told(expected), f"{route.method} {theirs}"
                assert answer.status_code != 401 or "otp" in theirs
                compared += 1
    assert compared > 120
    assert absent > 10


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/nothing",
        "//events",
        "/events/",
        "/evaluations/score_keys",
        "/../v1/keys",
        "/v1/keys",
    ],
)
def test_nothing_else_is_below(anyone: FlaskClient, token: str, path: str) -> None:
    response = anyone.get(f"/api{path}", headers={"Cookie": f"ae_session={token}"})
    require_error(response, 404, "route_not_found")


def test_other_methods_are_refused_as_there(anyone: FlaskClient, token: str) -> None:
    cookie = {"Cookie": f"ae_session={token}"}
    require_error(anyone.patch("/api/sessions", headers=cookie), 405, "method_not_allowed")
    require_error(anyone.post("/api/events", headers=cookie, data=b"{}"), 404, "route_not_found")


def test_sign_in_and_out(runtime: Runtime, app: Flask, ours: World) -> None:
    email = new_email()
    add_member(runtime, ours.org, email=email)
    browser = Visitor.of(app).client
    body = {"email": email, "code": new_code(runtime, email)}
    answer = browser.post("/api/auth/otp/verify", json=body, headers={"Host": "watch.example.org"})
    assert answer.status_code == 200
    [given] = answer.headers.getlist("Set-Cookie")
    assert given.startswith("ae_session=wps_")
    assert {"HttpOnly", "Path=/api", "SameSite=Lax", "Secure"} <= set(given.split("; "))
    token = given.split("=", 1)[1].split(";")[0]

    fresh = app.test_client(use_cookies=False)
    cookie = {"Cookie": f"theme=dark; ae_session={token}"}
    assert fresh.get("/api/auth/session", headers=cookie).get_json()["email"] == email
    csrf = fresh.post("/api/auth/logout", headers={**cookie, "Origin": "https://evil.example"})
    require_error(csrf, 403, "csrf")
    left = fresh.post("/api/auth/logout", headers=cookie)
    assert left.get_json() == {"ok": True}
    [taken] = left.headers.getlist("Set-Cookie")
    assert taken.startswith("ae_session=;")
    assert "Path=/api" in taken
    require_error(fresh.get("/api/auth/session", headers=cookie), 401)


def test_our_cookie_counts_for_nothing_here_and_theirs_nowhere_else(
    anyone: FlaskClient, token: str
) -> None:
    ours, theirs = f"service_session={token}", f"ae_session={token}"
    assert anyone.get("/api/keys", headers={"Cookie": theirs}).status_code == 200
    both = {"Cookie": f"service_session=wps_wrong; {theirs}"}
    assert anyone.get("/api/keys", headers=both).status_code == 200
    require_error(anyone.get("/api/keys", headers={"Cookie": ours}), 401)
    require_error(anyone.get("/v1/keys", headers={"Cookie": theirs}), 401)


def test_a_bearer_counts_for_nothing(
    anyone: FlaskClient, ours: World, token: str, app: Flask
) -> None:
    cookie = f"ae_session={token}"
    for bearer in (ours.key["Authorization"], f"Bearer {token}"):
        for headers in ({"Authorization": bearer}, {"Authorization": bearer, "Cookie": cookie}):
            for path in ("/api/keys", "/api/auth/session", "/api/agent/health"):
                require_error(anyone.get(path, headers=headers), 401)
            require_error(anyone.post("/api/auth/logout", headers=headers), 401)
    assert anyone.get("/api/keys", headers={"Cookie": cookie}).status_code == 200


def test_headers(runtime: Runtime, anyone: FlaskClient) -> None:
    email = new_email()
    orgs = [make_org(runtime), make_org(runtime)]
    user_id, _ = (add_member(runtime, org, email=email) for org in orgs)
    token = signed_in(runtime, user_id)["Authorization"].removeprefix("Bearer ")
    cookie = {"Cookie": f"ae_session={token}", "X-AgentEye-Client": "web/1"}
    require_error(anyone.get("/api/users", headers=cookie), 422, "org_required")
    for org in orgs:
        chosen = {**cookie, "X-AgentEye-Org": org.slug, "X-AgentEye-Actor": "other@example.com"}
        assert anyone.get("/api/users", headers=chosen).status_code == 200
        usage = anyone.get("/api/usage", headers=chosen).get_json()
        assert usage["org_id"] == org.id
    foreign = {**cookie, "X-AgentEye-Org": make_org(runtime).slug}
    assert anyone.get("/api/users", headers=foreign).status_code in (403, 404)


def test_an_export_is_one_array_unless_a_format_is_named(
    runtime: Runtime, anyone: FlaskClient, ours: World, token: str
) -> None:
    cookie = {"Cookie": f"ae_session={token}"}
    lines = [event("a/b", f"10:00:0{n}", n=n, text="[1,\n2]") for n in range(3)]
    stored = store_events(runtime.clickhouse, ours.org.id, lines)
    answer = anyone.get("/api/sessions/a%2Fb/export", headers=cookie)
    assert answer.mimetype == "application/json"
    assert [(row["id"], row["payload"]["n"]) for row in answer.get_json()] == [
        (one.event_id, n) for n, one in enumerate(stored)
    ]
    assert 'filename="session-a_b.json"' in answer.headers["Content-Disposition"]
    lines_of = anyone.get("/api/sessions/a%2Fb/export?format=jsonl", headers=cookie)
    assert lines_of.mimetype == "application/x-ndjson"
    one = anyone.get("/api/sessions/a%2Fb/export?format=json", headers=cookie)
    assert one.get_json()["session_id"] == "a/b"


def test_the_assistant_says_whether_there_is_one(anyone: FlaskClient, token: str) -> None:
    require_error(anyone.get("/api/agent/health"), 401)
    answer = anyone.get("/api/agent/health", headers={"Cookie": f"ae_session={token}"})
    assert (answer.status_code, answer.get_json()) == (
        200,
        {
            "enabled": False,
            "llm_configured": False,
            "model": None,
            "models": [],
            "default_model": None,
        },
    )
