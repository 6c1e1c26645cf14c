"""Repricings over HTTP: requested, listed, read, cancelled, and what the audit log says."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.foundation.core.clock import format_ts, from_us
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.repricings.running import Repricings
from tests.support.app import Headers
from tests.support.runtime import Org
from tests.support.stored_calls import START_US, call, store_as_before

Key = Callable[..., Headers]

PATH = "/v1/costs/repricings"
FROM = from_us(START_US) - timedelta(days=10)
RANGE = {"from": format_ts(FROM), "to": format_ts(FROM + timedelta(days=40))}
# A model of the built-in table: 2.50 dollars of a million tokens.
GPT = "gpt-4o"


def post(client: FlaskClient, headers: Headers, **body: Any) -> TestResponse:
    return client.post(PATH, json={**RANGE, **body}, headers=headers)


def work(runtime: Runtime, org: Org) -> None:
    Repricings(runtime, threading.Event(), org_id=org.uuid).run()


def refusal(response: TestResponse) -> tuple[int, str]:
    return response.status_code, response.get_json()["code"]


def lines_of(client: FlaskClient, headers: Headers) -> list[dict[str, Any]]:
    answer = client.get("/v1/audit-log", query_string={"noun": "repricing"}, headers=headers)
    lines: list[dict[str, Any]] = answer.get_json()["lines"]
    return lines


def test_a_run_from_its_request_to_its_result(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers = key()
    store_as_before(runtime, org, [call(second=n, model=GPT) for n in range(3)])
    asked = post(client, headers, dry_run=False, model=GPT)
    row = asked.get_json()
    assert (asked.status_code, row["state"], row["result"]) == (202, "queued", None)
    assert (row["from"], row["to"], row["filter"]) == (*RANGE.values(), {"model": GPT})
    assert row["progress"] == {"months": 3, "months_done": 0, "calls": 0}
    assert refusal(post(client, headers)) == (409, "repricing_running")
    work(runtime, org)
    row = client.get(f"{PATH}/{row['id']}", headers=headers).get_json()
    assert (row["state"], row["error"]) == ("done", None)
    assert row["progress"] == {"months": 3, "months_done": 3, "calls": 3}
    model = {"model": GPT, "calls": 3, "changed": 3, "before_usd": 0.0, "after_usd": 7.5}
    assert row["result"] == {
        "calls": 3,
        "changed": 3,
        "newly_priced": 3,
        "no_longer_priced": 0,
        "before_usd": 0.0,
        "after_usd": 7.5,
        "difference_usd": 7.5,
        "by_model": [model],
    }
    assert client.get(PATH, headers=headers).get_json() == {"repricings": [row]}
    end, run = lines_of(client, headers)
    assert (run["action"], run["target_id"]) == ("repricing.run", row["id"])
    assert run["after"] == {
        **{name: moment.replace(".000000", "") for name, moment in RANGE.items()},
        "model": GPT,
    }
    assert end["action"] == "repricing.end"
    assert end["after"] == {
        "state": "done",
        "calls": 3,
        "changed": 3,
        "before_usd": 0.0,
        "after_usd": 7.5,
    }


def test_a_dry_run_is_the_default_and_leaves_no_line(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers = key()
    assert post(client, headers).get_json()["dry_run"] is True
    work(runtime, org)
    [row] = client.get(PATH, headers=headers).get_json()["repricings"]
    assert row["state"] == "done"
    assert lines_of(client, headers) == []


def test_a_queued_one_is_cancelled_at_once(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers = key()
    made = post(client, headers, dry_run=False).get_json()
    path = f"{PATH}/{made['id']}/cancel"
    row = client.post(path, headers=headers).get_json()
    assert (row["state"], row["result"]["calls"]) == ("cancelled", 0)
    assert refusal(client.post(path, headers=headers)) == (409, "repricing_ended")
    assert post(client, headers).status_code == 202
    actions = [line["action"] for line in lines_of(client, headers)]
    assert actions == ["repricing.end", "repricing.run"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"to": RANGE["from"]}, "to"),
        ({"to": format_ts(FROM + timedelta(days=401))}, "to"),
        ({"from": "yesterday"}, "from"),
        ({"dry_run": 1}, "dry_run"),
    ],
)
def test_a_bad_request_names_the_field(
    client: FlaskClient, key: Key, body: dict[str, Any], field: str
) -> None:
    answer = post(client, key(), **body)
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [field]


@pytest.mark.parametrize("name", ["model", "agent_id", "environment"])
def test_a_filter_is_plain_text(client: FlaskClient, key: Key, name: str) -> None:
    answer = post(client, key("settings:write"), **{name: "a\0b"})
    assert answer.status_code == 422
    assert list(answer.get_json()["fields"]) == [name]
