"""No byte of another organization: every route, every id, every filter.

The OpenAPI document supplies all attempts, so a new route is covered automatically. Where a value
cannot be guessed, the field of the schema has an example.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from tests.security.bodies import Maker, body_of
from tests.security.world import Operation, World, rows_of
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.events import event, store_events
from tests.support.people import acting_as, add_member, new_email, new_member
from tests.support.runtime import Org, make_org
from tests.support.sign_in import Visitor, issue

SESSIONS = "/v1/auth/sessions"


def noting(world: World, ids: list[str]) -> Callable[[str], str | None]:
    """Returns references to the world's rows that also add the ids to a list."""

    def refer(path: str) -> str | None:
        found = world.id_from(path)
        ids.extend([] if found is None else [found])
        return found

    return refer


def ids_in(path: str, template: str) -> list[str]:
    """Returns the ids of a path; a sentence that nothing is there names them."""
    named = zip(template.split("/"), path.split("/"), strict=True)
    return [unquote(part) for name, part in named if name.startswith("{")]


def require_unmarked(answer: TestResponse, theirs: World, *sent: str) -> None:
    """Fails if an answer contains more of the other organization than the caller sent itself."""
    said = answer.get_data(as_text=True)
    for text in sent:
        for spelled in (text, text.replace("/", "%2F")):
            said = said.replace(spelled, "")
    assert theirs.mark not in said
    assert theirs.org.id not in said
    assert theirs.org.slug not in said


def test_every_kind_of_resource_is_there(theirs: World, guarded: list[Operation]) -> None:
    """Otherwise the tests below would prove nothing: all resources are created and listed."""
    assert ("POST", "/v1/keys") in theirs.made
    for method, template in theirs.made:
        if method == "POST" and "get" in theirs.document.body["paths"][template]:
            [path, *_] = theirs.paths(template)
            assert theirs.mark in theirs.call("GET", path).get_data(as_text=True), template


def test_foreign_ids_are_not_found(ours: World, theirs: World, guarded: list[Operation]) -> None:
    before = theirs.snapshot()
    tried = 0
    for method, template, operation in guarded:
        if "{" not in template:
            continue
        for path in theirs.own_paths(template):
            answer = ours.call(method, path, body=ours.body(operation))
            assert answer.status_code == 404, f"{method} {path}: {answer.get_data(as_text=True)}"
            require_unmarked(answer, theirs, *ids_in(path, template))
            tried += 1
    assert tried > 5
    assert theirs.snapshot() == before


def test_foreign_ids_in_bodies_are_refused(
    ours: World, theirs: World, guarded: list[Operation]
) -> None:
    tried = []
    for method, template, operation in guarded:
        foreign: list[str] = []
        body = body_of(Maker(ours.document, ours.mark, noting(theirs, foreign)), operation)
        for path in list(ours.paths(template))[:1] if foreign else []:
            own = ours.snapshot()
            answer = ours.call(method, path, body=body)
            assert answer.status_code in (404, 422), f"{method} {path}: {answer.get_json()}"
            require_unmarked(answer, theirs)
            assert ours.snapshot() == own
            tried.append(template)
    assert "/v1/dashboards/{dashboard_id}/tiles" in tried


def test_foreign_values_filter_to_nothing(
    ours: World, theirs: World, guarded: list[Operation]
) -> None:
    values = theirs.values()
    tried = 0
    for method, template, operation in guarded:
        named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        for name in named:
            for value in sorted(values.get(name, set()))[:3] or [theirs.mark]:
                if method != "GET":
                    continue
                for path in list(ours.paths(template))[:1]:
                    answer = ours.call(method, path, query={name: value})
                    require_unmarked(answer, theirs, value)
                    if answer.status_code == 200 and name in values:
                        assert rows_of(answer.get_json()) == [], f"{template}?{name}={value}"
                        tried += 1
    assert tried > 10


def test_nothing_that_one_does_shows_in_the_other(
    new_world: Callable[[], World], theirs: World, guarded: list[Operation]
) -> None:
    """Every operation, with the other organization's values in every query parameter."""
    ours = new_world()
    before = theirs.snapshot()
    values = theirs.values()
    for method, template, operation in guarded:
        for path in list(ours.paths(template))[:1]:
            for query in foreign_queries(method, operation, values) or [{}]:
                answer = ours.call(method, path, body=ours.body(operation), query=query)
                said = answer.get_data(as_text=True)
                for value in query.values():
                    said = said.replace(value, "")
                assert theirs.mark not in said, f"{method} {path}"
    after = theirs.snapshot()
    assert after == before
    assert not [path for path, body in after.items() if ours.mark.encode() in body]


def foreign_queries(
    method: str, operation: dict[str, Any], values: dict[str, set[str]]
) -> list[dict[str, str]]:
    """Yields queries with another organization's values: all at once for reads.

    Writes, such as a delete, get each value alone: one of them names a thing of the other
    organization.
    """
    named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
    every = sorted(set().union(*values.values()))
    if method == "GET":
        return [{name: min(values.get(name, every)) for name in named}] if named else []
    return [{name: value} for name in named for value in every]


@dataclass(frozen=True)
class InBoth:
    """A person who uses organization A, and an administrator of B who has invited them."""

    person: Visitor
    email: str
    a: Org
    b: Org
    b_admin: Headers

    def invited(self, client: FlaskClient) -> str:
        """Invites the person into B; returns the account's id."""
        body = {"email": self.email, "permission_set": "admin"}
        answer = client.post("/v1/users", json=body, headers=self.b_admin)
        assert answer.status_code == 201, answer.get_json()
        user_id: str = answer.get_json()["id"]
        return user_id

    def seen(self, org: Org | None = None) -> tuple[int, Any]:
        """Returns an answer to a request that names this organization, by default none."""
        headers = {} if org is None else {"X-Service-Org": org.slug}
        answer = self.person.client.get("/v1/users", headers=headers)
        return answer.status_code, answer.get_json()

    def sign_ins_in_b(self, client: FlaskClient) -> list[str]:
        """Returns what B's audit log says the person did."""
        answer = client.get("/v1/audit-log", query_string={"noun": "user"}, headers=self.b_admin)
        own = [line for line in answer.get_json()["lines"] if line["actor"] == self.email]
        return [line["action"] for line in own]


@pytest.fixture
def in_both(runtime: Runtime, app: Flask) -> InBoth:
    """The person who has just signed in."""
    a, b, email = make_org(runtime), make_org(runtime), new_email()
    add_member(runtime, a, email=email)
    made = InBoth(Visitor.of(app), email, a, b, new_member(runtime, b))
    made.person.sign_in(runtime, email)
    return made


def test_an_organization_that_invites_somebody_changes_nothing_elsewhere(
    runtime: Runtime, client: FlaskClient, in_both: InBoth
) -> None:
    before, [session] = in_both.seen(), in_both.person.client.get(SESSIONS).get_json()
    user_id = in_both.invited(client)
    for key, value in (("session_ttl_secs", 60), ("otp_ttl_secs", 60)):
        path = f"/v1/settings/{key}"
        assert client.put(path, json={"value": value}, headers=in_both.b_admin).status_code == 200
    assert in_both.seen() == before
    [still] = in_both.person.client.get(SESSIONS).get_json()
    assert still["expires_at"] == session["expires_at"]
    issued = issue(runtime, in_both.email)
    assert issued is not None
    assert issued.ttl_secs > 60
    for method, tail in (("DELETE", ""), ("POST", "/enable"), ("DELETE", "")):
        path = f"/v1/users/{user_id}{tail}"
        answer = client.open(path, method=method, headers=in_both.b_admin)
        assert answer.status_code == 200
        assert in_both.seen() == before
    in_both.person.leave()
    in_both.person.sign_in(runtime, in_both.email)
    assert in_both.seen() == before
    assert in_both.sign_ins_in_b(client) == []


def test_who_takes_an_invitation_up_is_seen_only_where_they_work(
    runtime: Runtime, app: Flask, client: FlaskClient, in_both: InBoth
) -> None:
    in_both.invited(client)
    [_, waiting] = sorted(
        in_both.person.session().get_json()["memberships"], key=lambda one: one["is_pending"]
    )
    assert waiting["org_slug"] == in_both.b.slug
    assert in_both.seen(in_both.b)[0] == 200
    assert in_both.sign_ins_in_b(client) == ["user.sign_in", "user.join"]
    assert in_both.seen()[0] == 422
    elsewhere = Visitor.of(app)
    elsewhere.sign_in(runtime, in_both.email)
    at_a = {"X-Service-Org": in_both.a.slug}
    assert elsewhere.client.get("/v1/users", headers=at_a).status_code == 200
    elsewhere.leave()
    assert in_both.sign_ins_in_b(client) == ["user.sign_in", "user.join"]
    in_both.person.leave()
    assert in_both.sign_ins_in_b(client) == ["user.sign_out", "user.sign_in", "user.join"]


def test_mcp_by_cookie_reads_the_named_organization_alone(
    runtime: Runtime, client: FlaskClient, in_both: InBoth
) -> None:
    in_both.invited(client)
    assert in_both.seen(in_both.b)[0] == 200
    stranger = make_org(runtime)
    for org in (in_both.a, in_both.b, stranger):
        store_events(runtime.clickhouse, org.id, [event(f"of-{org.slug}", "12:00:00")])

    def called(org: Org | None, name: str, **arguments: str) -> TestResponse:
        params = {"name": name, "arguments": arguments}
        accept = {"Accept": "application/json, text/event-stream"}
        return in_both.person.client.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers=accept if org is None else {**accept, "X-Service-Org": org.slug},
        )

    for org, other in ((in_both.a, in_both.b), (in_both.b, in_both.a)):
        found = called(org, "list_sessions").get_json()["result"]["structuredContent"]
        assert [one["session_id"] for one in found["sessions"]] == [f"of-{org.slug}"]
        sql = called(org, "run_sql", sql="SELECT DISTINCT session_id FROM events").get_json()
        assert sql["result"]["structuredContent"]["rows"] == [[f"of-{org.slug}"]]
        foreign = called(org, "read_session", session_id=f"of-{other.slug}").get_json()["result"]
        assert foreign["isError"]
    assert called(stranger, "list_sessions").status_code == 403
    assert called(None, "list_sessions").status_code == 422


def test_an_instance_key_acts_where_the_person_works(client: FlaskClient, in_both: InBoth) -> None:
    """Also after `default` has invited the person."""
    headers = acting_as(in_both.email)
    before = client.get("/v1/users", headers=headers).get_data()
    body = {"email": in_both.email, "permission_set": None}
    answer = client.post("/v1/users", json=body, headers=bearer(ADMIN_KEY, "default"))
    assert answer.status_code == 201
    assert client.get("/v1/users", headers=headers).get_data() == before


def test_who_invited_first_does_not_rule_the_account(
    runtime: Runtime, app: Flask, client: FlaskClient
) -> None:
    """Before anybody else knows the person: two invitations wait, and one is taken up."""
    visitor, email = Visitor.of(app), new_email()
    first, second = make_org(runtime), make_org(runtime)
    for org in (first, second):
        body = {"email": email, "permission_set": "admin"}
        headers = bearer(ADMIN_KEY, org.slug)
        assert client.post("/v1/users", json=body, headers=headers).status_code == 201
    visitor.sign_in(runtime, email)
    at_second = {"X-Service-Org": second.slug}
    assert visitor.client.get("/v1/users", headers=at_second).status_code == 200
    path, headers = "/v1/settings/session_ttl_secs", bearer(ADMIN_KEY, first.slug)
    assert client.put(path, json={"value": 60}, headers=headers).status_code == 200
    [session] = visitor.client.get(SESSIONS).get_json()
    lasts = datetime.fromisoformat(session["expires_at"]) - datetime.fromisoformat(
        session["created_at"]
    )
    assert lasts > timedelta(seconds=60)
    log = client.get("/v1/audit-log", headers=headers).get_json()["lines"]
    assert not [line for line in log if line["actor"] == email]
