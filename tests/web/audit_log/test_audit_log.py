"""The audit log over HTTP: pages, filters, the export, and who acted from where."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared.access.audit_log import record
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]


def lines(client: FlaskClient, headers: Headers, **query: str) -> list[dict[str, Any]]:
    answer = client.get("/v1/audit-log", headers=headers, query_string=query)
    assert answer.status_code == 200, answer.get_json()
    found: list[dict[str, Any]] = answer.get_json()["lines"]
    return found


@pytest.fixture
def many(runtime: Runtime, org: Org) -> None:
    """Seven lines, and one of another organization."""
    other = make_org(runtime)
    for number in range(7):
        with runtime.postgres.transaction() as session:
            noun = "key" if number % 2 else "alert"
            record(session, org.uuid, f"{noun}.create", target=number, name=f"n{number}")
    with runtime.postgres.transaction() as session:
        record(session, other.uuid, "key.create", target="foreign")


@pytest.mark.usefixtures("many")
def test_pages_join_without_gaps(client: FlaskClient, key: Key) -> None:
    headers, seen, cursor = key("settings:read"), [], ""
    while True:
        query = {"limit": "3", "noun": "key,alert", "way": "system", "cursor": cursor}
        page = client.get("/v1/audit-log", headers=headers, query_string=query).get_json()
        seen += [line["target_id"] for line in page["lines"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    # The key of the caller is the newest line.
    assert seen[1:] == [str(number) for number in reversed(range(7))]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"noun": "alert"}, {"0", "2", "4", "6"}),
        ({"action": "alert.create,key.none"}, {"0", "2", "4", "6"}),
        ({"target_id": "3"}, {"3"}),
        ({"actor": "system", "noun": "alert"}, {"0", "2", "4", "6"}),
        ({"actor": "somebody"}, set()),
        ({"way": "orgctl"}, set()),
        ({"ts_to": "2020-01-01T00:00:00Z"}, set()),
        ({"ts_from": "2020-01-01T00:00:00Z", "target_id": "1"}, {"1"}),
    ],
)
def test_filters(client: FlaskClient, key: Key, query: dict[str, str], found: set[str]) -> None:
    headers = key("settings:read")
    assert {line["target_id"] for line in lines(client, headers, **query)} == found
    answer = client.get("/v1/audit-log/export", headers=headers, query_string=query)
    exported = [json.loads(line) for line in answer.get_data().splitlines()]
    assert {line["target_id"] for line in exported} == found
    assert "attachment" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize(
    "query", [{"cursor": "x"}, {"cursor": "ks__"}, {"way": "fax"}, {"target_id": "\0"}]
)
def test_bad_parameters_are_named(client: FlaskClient, key: Key, query: dict[str, str]) -> None:
    answer = client.get("/v1/audit-log", headers=key("settings:read"), query_string=query)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == list(query)


def test_a_line_says_who_acted_through_which_key(
    client: FlaskClient, runtime: Runtime, org: Org
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    headers = acting_as(email, org.slug)
    answer = client.put(
        "/v1/settings/otp_ttl_secs",
        json={"value": 60},
        headers={**headers, "X-Request-Id": "ab" * 16, "X-Forwarded-For": "203.0.113.9"},
        environ_base={"REMOTE_ADDR": "2001:db8::7"},
    )
    assert answer.status_code == 200
    [line] = lines(client, bearer(ADMIN_KEY, org.slug), noun="setting")
    assert (line["actor_kind"], line["actor"], line["key_name"]) == ("user", email, "admin")
    assert (line["way"], line["request_id"]) == ("web", "ab" * 16)
    # Without trusted proxies the peer counts.
    assert line["address"] == "2001:db8::7"
    assert (line["action"], line["target_id"]) == ("setting.update", "otp_ttl_secs")
    assert (line["before"], line["after"]) == ({"value": 600}, {"value": 60})


def test_a_refused_change_leaves_no_line(client: FlaskClient, key: Key) -> None:
    headers = key()
    client.put("/v1/settings/otp_ttl_secs", json={"value": 1}, headers=headers)
    client.put("/v1/settings/no.such", json={"value": 1}, headers=headers)
    assert lines(client, headers, noun="setting") == []


def test_an_export_that_cannot_be_recorded_is_refused(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    headers = key("settings:read")
    assert client.get("/v1/audit-log/export", headers=headers).status_code == 200
    with runtime.postgres.transaction() as session:
        session.execute(text("DELETE FROM organizations WHERE id = :id"), {"id": org.uuid})
    # The identity is cached; the foreign key refuses the line.
    assert client.get("/v1/audit-log/export", headers=headers).status_code == 404
