"""Evaluators over HTTP: rows, refusals with their codes, and who may do what."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from shared.foundation.core.clock import now, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.own_evaluators import URL, VERSIONS
from tests.support.runtime import Org

Key = Callable[..., Headers]

PATH = "/v1/evaluators"
OWN = f"{PATH}/refund_policy"
DEFAULTS = {
    "name": "refund_policy",
    "description": "",
    "labels": [],
    "enabled": True,
    "sample": 100,
    "sample_seed": "refund_policy",
    "priority": 5,
    "concurrency": 4,
    "timeout_ms": 30_000,
    "max_attempts": 5,
    "poll_max_secs": 3600,
    "idle_secs": None,
    "rescore": "never",
    "rescore_max": 20,
    "budget": None,
    "pool": None,
}
NOTHING = {"done": 0, "error": 0, "timeout": 0, "skipped": 0}
OK = {"state": "ok", "since": None, "failures": 0, "last_error": None, "retry_at": None}


def create(client: FlaskClient, headers: Headers, kind: str = "push", **body: Any) -> TestResponse:
    wanted = {"key": "refund_policy", "kind": kind, "version": VERSIONS.get(kind), **body}
    return client.post(PATH, json=wanted, headers=headers)


def code(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.get_json()["code"]


def refused_fields(response: TestResponse) -> list[str]:
    assert response.status_code == 422, response.get_data(as_text=True)
    return list(response.get_json()["fields"])


def test_an_evaluator_from_its_start_to_its_end(client: FlaskClient, key: Key) -> None:
    headers = key()
    created = create(client, headers, secrets={"token": "t", "headers": {"X-Key": "k"}})
    assert created.status_code == 201, created.get_json()
    row = created.get_json()
    month = now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    assert row == {
        "key": "refund_policy",
        "kind": "push",
        "builtin": False,
        **DEFAULTS,
        "archived_at": None,
        "active_version": "1",
        "health": OK,
        "month": {
            "from": month.strftime("%Y-%m-%dT00:00:00.000000Z"),
            "evaluations": 0,
            "tokens": 0,
            "usd": 0,
        },
        "last_24h": NOTHING,
        "last_result_at": None,
        "secrets": {"token": True, "api_key": False, "headers": ["X-Key"]},
        "created_by": row["created_by"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
    assert client.get(OWN, headers=headers).get_json() == row
    changed = client.put(
        OWN, json={"sample": 12.5, "budget": {"usd": 1.5}, "labels": ["a"]}, headers=headers
    ).get_json()
    assert changed["budget"] == {"evaluations": None, "tokens": None, "usd": 1.5}
    assert (changed["sample"], changed["labels"], changed["name"]) == (12.5, ["a"], row["name"])
    assert client.put(OWN, json={"budget": None}, headers=headers).get_json()["budget"] is None

    assert client.delete(OWN, headers=headers).status_code == 204
    gone = client.get(OWN, headers=headers).get_json()
    assert gone["archived_at"] is not None
    assert (gone["active_version"], gone["health"]["state"]) == (None, "stopped")
    assert gone["secrets"] == {"token": False, "api_key": False, "headers": []}
    for method in ("PUT", "DELETE"):
        assert code(client.open(OWN, method=method, json={}, headers=headers)) == (404, "not_found")
    assert code(create(client, headers, "sql")) == (409, "evaluator_exists")
    again = create(client, headers, version=None).get_json()
    assert (again["archived_at"], again["active_version"]) == (None, None)


def test_built_in_evaluators_come_first_and_deleted_ones_on_request(
    client: FlaskClient, key: Key
) -> None:
    headers = key()
    for name in ("b_one", "a_one"):
        create(client, headers, key=name)
    client.delete(f"{PATH}/a_one", headers=headers)

    def listed(**query: str) -> list[str]:
        rows = client.get(PATH, query_string=query, headers=headers).get_json()["evaluators"]
        return [row["key"] for row in rows]

    assert listed() == ["default", "otlp", "b_one"]
    assert listed(archived="true") == ["default", "otlp", "a_one", "b_one"]


def test_built_in_evaluators_have_their_real_results(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    at = to_us(now()) - 1_000_000
    rows = [
        evaluation(org.id, "s1", at, duration_ms=5),
        evaluation(org.id, "s2", at - 5, duration_ms=5, status="error"),
        evaluation(org.id, "s3", at - 86_400_000_000 * 40, duration_ms=5),
        evaluation(org.id, "s1", at - 7, evaluator="otlp"),
    ]
    store.insert(runtime.clickhouse, rows)
    [default, otlp] = client.get(PATH, headers=key()).get_json()["evaluators"]
    assert [one["kind"] for one in (default, otlp)] == ["push", "otlp"]
    assert default["builtin"]
    assert otlp["builtin"]
    assert default["created_at"] is None
    assert default["last_24h"] == {**NOTHING, "done": 1, "error": 1}
    assert otlp["last_24h"] == {**NOTHING, "done": 1}
    for row, us in ((default, at), (otlp, at - 7)):
        last = datetime.fromisoformat(row["last_result_at"])
        assert to_us(last.astimezone(UTC)) == us
    # This application has no EVALUATOR_ENDPOINT.
    assert (default["enabled"], default["health"]["state"]) == (False, "stopped")
    assert otlp["health"] == OK


def test_own_results_are_counted_by_evaluator_and_version(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    headers = key()
    create(client, headers)
    client.post(f"{OWN}/versions", json=VERSIONS["push"], headers=headers)
    at = now()
    rows = [
        ("refund_policy", "1", "done", 0),
        ("refund_policy", "2", "error", 60),
        ("refund_policy", "2", "done", 86_400 * 40),
        ("other", "2", "done", 5),
    ]
    columns = ("evaluator", "evaluator_version", "status")
    for number, (*values, age) in enumerate(rows):
        row = dict(zip(columns, values, strict=True))
        record: dict[str, list[object]] = {
            "org_id": [org.id],
            "evaluation_id": [f"00000000-0000-4000-8000-{number:012}"],
            "session_id": ["s"],
            "agent_id": ["main"],
            "environment": ["e"],
            "attempt_count": [1],
            "completed_at": [to_us(at) - age * 1_000_000],
            **{name: [value] for name, value in row.items()},
        }
        # Twice, as after a retry.
        for _ in range(2):
            runtime.clickhouse.insert("own_evaluations", record)
    with runtime.postgres.transaction() as session:
        session.execute(
            text(
                "INSERT INTO evaluator_months (evaluator_id, month, org_id, evaluations, tokens,"
                " usd) SELECT id, (date_trunc('month', now() AT TIME ZONE 'UTC') - skipped)::date,"
                " org_id, 7, 42, 0.5 FROM evaluators,"
                " unnest(ARRAY[interval '0', interval '1 month']) AS skipped WHERE org_id = :org_id"
            ),
            {"org_id": org.uuid},
        )
    row = client.get(OWN, headers=headers).get_json()
    assert row["last_24h"] == {**NOTHING, "done": 1, "error": 1}
    assert {**row["month"], "from": None} == {
        "from": None,
        "evaluations": 7,
        "tokens": 42,
        "usd": 0.5,
    }
    assert row["last_result_at"] == at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    listed = client.get(f"{OWN}/versions", headers=headers).get_json()["versions"]
    assert [(one["version"], one["evaluations"], one["active"]) for one in listed] == [
        ("2", 2, True),
        ("1", 1, False),
    ]
    assert listed[0]["first_result_at"] < listed[0]["last_result_at"]


@pytest.mark.parametrize("builtin", ["default", "otlp"])
def test_built_in_evaluators_refuse_writes(client: FlaskClient, key: Key, builtin: str) -> None:
    headers = key()
    path = f"{PATH}/{builtin}"
    writes: list[tuple[str, str, Any]] = [
        ("PUT", path, {"sample": 1}),
        ("DELETE", path, None),
        ("PUT", f"{path}/secrets", {"token": "t"}),
        ("POST", f"{path}/versions", VERSIONS["push"]),
        ("PUT", f"{path}/active", {"version": None}),
    ]
    for method, target, body in writes:
        answer = client.open(target, method=method, json=body, headers=headers)
        assert code(answer) == (409, "builtin_evaluator"), target
    assert code(create(client, headers, key=builtin)) == (409, "builtin_evaluator")
    assert client.get(path, headers=headers).get_json()["key"] == builtin
    assert client.get(f"{path}/versions", headers=headers).get_json() == {"versions": []}
    assert client.get(f"{path}/versions/1", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"key": "Refund"}, ["key"]),
        ({"kind": "cel"}, ["kind"]),
        ({"sample": 100.5}, ["sample"]),
        ({"priority": True}, ["priority"]),
        ({"name": None}, ["name"]),
        ({"budget": {"usd": -1}}, ["budget.usd"]),
        ({"pool": "00000000-0000-4000-8000-00000000ffff"}, ["pool"]),
        ({"version": []}, ["version"]),
        ({"version": {"spec": []}}, ["version.spec"]),
        ({"version": {"spec": {"url": "http://127.0.0.1"}}}, ["version.spec.url"]),
        ({"version": {**VERSIONS["push"], "results": [{}]}}, ["version.results.0.kind"]),
        ({"version": {**VERSIONS["push"], "results": ["a"]}}, ["version.results.0"]),
        ({"version": {**VERSIONS["push"], "condition": {"any": []}}}, ["version.condition.any"]),
        ({"version": {**VERSIONS["push"], "large": "all"}}, ["version.large"]),
        ({"secrets": {"api_key": "a"}}, ["secrets.api_key"]),
        ({"secrets": {"headers": {"Host": "a"}}}, ["secrets.headers.Host"]),
    ],
)
def test_a_bad_body_names_its_field(
    client: FlaskClient, key: Key, body: dict[str, Any], fields: list[str]
) -> None:
    headers = key()
    assert refused_fields(create(client, headers, **body)) == fields
    assert client.get(OWN, headers=headers).status_code == 404


def test_key_and_kind_never_change(client: FlaskClient, key: Key) -> None:
    headers = key()
    create(client, headers)
    for body in ({"kind": "sql"}, {"key": "other"}):
        assert code(client.put(OWN, json=body, headers=headers)) == (409, "immutable")
    same = client.put(OWN, json={"kind": "push", "key": "refund_policy"}, headers=headers)
    assert same.status_code == 200


@pytest.mark.parametrize(
    ("kind", "needed"),
    [
        ("push", "events:read"),
        ("pull", "events:read"),
        ("judge", "events:read"),
        ("sql", "queries:run"),
    ],
)
def test_the_first_missing_permission_is_named(
    client: FlaskClient, key: Key, kind: str, needed: str
) -> None:
    body = {"pool": None}
    if kind == "pull":
        pool = client.post("/v1/evaluator-pools", json={"name": "p"}, headers=key()).get_json()
        body = {"pool": pool["id"]}
    assert create(client, key(), kind, **body).status_code == 201
    others = ({"events:read", "queries:run"} - {needed}).pop()

    def missing(headers: Headers) -> list[str]:
        answers = [
            create(client, headers, kind, key="other", **body),
            client.post(f"{OWN}/versions", json=VERSIONS[kind], headers=headers),
            client.put(f"{OWN}/secrets", json={}, headers=headers),
        ]
        assert [one.status_code for one in answers] == [403] * 3
        return [one.get_json()["required_permission"] for one in answers]

    assert missing(key(needed, others, "evaluations:read")) == ["settings:write"] * 3
    assert missing(key("settings:write", others)) == [needed] * 3
    writes = key("settings:write")
    for path, change in ((OWN, {"sample": 1}), (f"{OWN}/active", {"version": None})):
        assert client.put(path, json=change, headers=writes).status_code == 200
    assert client.delete(OWN, headers=writes).status_code == 204


def test_who_cannot_write_sees_origins_and_names_of_headers(client: FlaskClient, key: Key) -> None:
    headers = key()
    spec = {"url": URL, "headers": {"X-Team": "hidden-team"}}
    create(client, headers, version={"spec": spec})
    for path in (f"{OWN}/versions/1", f"{OWN}/versions"):
        whole = client.get(path, headers=headers).get_data(as_text=True)
        assert URL in whole
        assert "hidden-team" in whole
        answer = client.get(path, headers=key("evaluations:read"))
        assert "hidden-team" not in answer.get_data(as_text=True)
        row = answer.get_json()
        row = row["versions"][0] if "versions" in row else row
        assert row["spec"] == {
            "url": "https://evaluators.example.com/…",
            "headers": {"X-Team": None},
        }
    # What such a reader copies is no version.
    refused = client.post(f"{OWN}/versions", json={"spec": row["spec"]}, headers=headers)
    assert refused_fields(refused) == ["spec.url"]
    copied = {"url": URL, "headers": row["spec"]["headers"]}
    refused = client.post(f"{OWN}/versions", json={"spec": copied}, headers=headers)
    assert refused_fields(refused) == ["spec.headers.X-Team"]


def test_a_pull_evaluator_without_a_worker_says_so(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    headers = key()
    pool = client.post("/v1/evaluator-pools", json={"name": "p"}, headers=headers).get_json()["id"]
    row = create(client, headers, "pull", pool=pool).get_json()
    assert row["health"] == {**OK, "state": "no_worker"}
    with runtime.postgres.transaction() as session:
        session.execute(
            text(
                "INSERT INTO evaluator_workers (id, org_id, pool_id, worker_id, sdk, concurrency,"
                " definitions, last_seen_at) VALUES (gen_random_uuid(), :org_id, :pool, 'w-1',"
                " 'kit 1.0', 4, '[]', now())"
            ),
            {"org_id": org.uuid, "pool": pool},
        )
    assert client.get(OWN, headers=headers).get_json()["health"] == OK
    [listed] = client.get("/v1/evaluator-pools", headers=headers).get_json()["pools"]
    [worker] = listed["workers"]
    assert (worker["worker_id"], worker["concurrency"], worker["leased"]) == ("w-1", 4, 0)


def test_a_pool_that_an_evaluator_uses_stays(client: FlaskClient, key: Key) -> None:
    headers, pools = key(), "/v1/evaluator-pools"
    pool = client.post(pools, json={"name": "p"}, headers=headers).get_json()["id"]
    create(client, headers, "pull", pool=pool)
    assert code(client.delete(f"{pools}/{pool}", headers=headers)) == (409, "pool_in_use")
    client.delete(OWN, headers=headers)
    assert client.delete(f"{pools}/{pool}", headers=headers).status_code == 204
