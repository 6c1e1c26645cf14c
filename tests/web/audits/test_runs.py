"""Runs on request and their list, and the context of reports."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.audits import PATH, AuditBench, finding, make_audit, meanwhile
from tests.support.dashboards import error, made
from tests.support.runtime import Org

Key = Callable[..., Headers]


@pytest.fixture
def bench(runtime: Runtime, org: Org) -> AuditBench:
    """The audits of the test's organization."""
    return AuditBench(runtime, org)


@pytest.fixture
def path(client: FlaskClient, key: Key, bench: AuditBench) -> str:
    """The path of an audit that is not due."""
    row = made(make_audit(client, key()))
    bench.sql("UPDATE audits SET next_attempt_at = now() + interval '1 day' WHERE org_id = :org_id")
    return f"{PATH}/{row['id']}"


def test_a_run_on_request_from_its_queueing_to_its_end(
    client: FlaskClient, bench: AuditBench, key: Key, path: str
) -> None:
    headers = key("audits:read", "audits:write")
    queued = client.post(f"{path}/run", headers=headers)
    assert queued.status_code == 202
    assert queued.get_json().keys() == {"queued", "run_id"}
    assert queued.get_json()["queued"] is True
    # A second request returns the same run, which is in no list yet.
    again = client.post(f"{path}/run", headers=headers)
    assert (again.status_code, again.get_json()) == (202, queued.get_json())
    assert client.get(f"{path}/runs", headers=headers).get_json() == []
    seen: list[Any] = []

    def look() -> None:
        seen.append(error(client.post(f"{path}/run", headers=headers)))
        seen.append(client.get(f"{path}/runs", headers=headers).get_json())

    bench.run({"test": meanwhile(look, then=finding("a", signal="error_cluster"))})
    [refused, [running]] = seen
    assert refused == (409, "audit_running")
    [ended] = client.get(f"{path}/runs", headers=headers).get_json()
    assert running["id"] == ended["id"] == queued.get_json()["run_id"]
    assert (running["status"], running["finished_at"], running["stats"]) == ("running", None, {})
    assert (ended["status"], ended["trigger_kind"]) == ("succeeded", "manual")
    assert (ended["findings_count"], ended["new_findings_count"]) == (1, 1)
    assert ended["stats"]["signals"]["test"]["candidates"] == 1
    assert (ended["report"], ended["error"]) == (None, None)
    found = client.get(f"/v1/audits/findings?run_id={ended['id']}", headers=headers).get_json()
    assert [one["title"] for one in found] == ["Errors: a"]


def test_a_disabled_audit_is_not_run(client: FlaskClient, key: Key, path: str) -> None:
    headers = key()
    client.put(path, json={"name": "n", "enabled": False}, headers=headers)
    assert error(client.post(f"{path}/run", headers=headers)) == (409, "audit_disabled")


def test_runs_are_paged_newest_first(
    client: FlaskClient, bench: AuditBench, key: Key, path: str
) -> None:
    headers = key()
    for _ in range(3):
        client.post(f"{path}/run", headers=headers)
        bench.run()
    every = client.get(f"{path}/runs", headers=headers).get_json()
    started = [run["started_at"] for run in every]
    assert len(every) == 3
    assert started == sorted(started, reverse=True)
    for query, expected in (
        ("?limit=2", every[:2]),
        ("?limit=2&offset=2", every[2:]),
        ("?offset=3", []),
        ("?limit=100000", every),
        (f"?offset={10**30}", []),
    ):
        answer = client.get(f"{path}/runs{query}", headers=headers)
        assert (answer.status_code, answer.get_json()) == (200, expected)
    for bad in ("limit=0", "offset=-1", "offset=x"):
        answer = client.get(f"{path}/runs?{bad}", headers=headers)
        assert answer.get_json()["fields"].keys() == {bad.partition("=")[0]}


def test_the_context_is_empty_until_it_is_set(client: FlaskClient, key: Key, path: str) -> None:
    headers = key("audits:read", "audits:write")
    context = f"{path}/context"
    assert client.get(context, headers=headers).get_json() == {"text": "", "urls": []}
    wanted = {"text": "They book\nflights.", "urls": ["https://docs.test/agents?a=b#c"]}
    put = client.put(context, json=wanted, headers=headers)
    assert (put.status_code, put.get_json()) == (200, wanted)
    assert client.get(context, headers=headers).get_json() == wanted
    row = client.get(path, headers=headers).get_json()
    assert (row["additional_context"], row["reference_url_count"]) == (wanted["text"], 1)
    assert row["updated_at"] > row["created_at"]
    # A change of the audit does not touch its context.
    client.put(path, json={"name": "n"}, headers=headers)
    assert client.get(context, headers=headers).get_json() == wanted
    assert client.put(context, json={}, headers=headers).get_json() == {"text": "", "urls": []}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "t" * 8193}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": 7}, "text"),
        ({"urls": ["https://a.test/"] * 6}, "urls"),
        ({"urls": ["http://a.test/"]}, "urls.0"),
        ({"urls": ["https://a.test/", "javascript:alert(1)"]}, "urls.1"),
        ({"urls": ["https://"]}, "urls.0"),
        ({"urls": ["https://[::1"]}, "urls.0"),
        ({"urls": ["https://a.test/ b"]}, "urls.0"),
        ({"urls": ["https://a.test/\nX: y"]}, "urls.0"),
        ({"urls": [f"https://a.test/{'u' * 2048}"]}, "urls.0"),
        ({"urls": "https://a.test/"}, "urls"),
    ],
)
def test_a_bad_context_is_refused_by_name(
    client: FlaskClient, key: Key, path: str, body: dict[str, Any], field: str
) -> None:
    answer = client.put(f"{path}/context", json=body, headers=key())
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == {field}


def test_the_longest_context_is_kept(client: FlaskClient, key: Key, path: str) -> None:
    wanted = {"text": "ö" * 8192, "urls": [f"https://a.test/{'u' * 2033}"] * 5}
    put = client.put(f"{path}/context", json=wanted, headers=key())
    assert (put.status_code, put.get_json()) == (200, wanted)
