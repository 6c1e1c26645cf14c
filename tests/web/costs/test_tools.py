"""The tools that read costs answer as the routes do."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from shared.assistant.asker import Asker
from shared.assistant.tools.table import call
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org
from tests.web.costs.conftest import RANGE, Get, Send
from web.state import state

CALLS = [
    {"model": "gpt-4o", "input_tokens": 1000, "user_id": "zoe"},
    {"model": "gpt-4o", "input_tokens": 2000, "user_id": "ann", "session_id": "t"},
    {"model": "nobody's", "input_tokens": 3000, "session_id": "t"},
]
WITHIN = {"since": RANGE["ts_from"], "until": RANGE["ts_to"]}

Answer = Callable[..., Any]


@pytest.fixture
def answer(app: Flask, runtime: Runtime, org: Org) -> Answer:
    """Returns the answer of a tool."""
    with app.app_context():
        queries = state().queries
    asker = Asker(runtime, queries, org.uuid, org.slug, frozenset({"evaluations:read"}), "a test")
    return lambda name, **given: call(asker, name, json.dumps(given).encode()).value


def test_tools_answer_as_routes_do(org: Org, send: Send, get: Get, answer: Answer) -> None:
    send(CALLS)
    summed = answer("sum_costs", group_by=["user_id"], bucket="month", limit=1, **WITHIN)
    shown = get(group_by="user_id", bucket="month", limit=1)
    assert summed["total"] == shown["total"]
    assert summed["groups"] == shown["groups"]
    assert summed["all_further_groups"] == shown["other"]
    assert summed["cost_usd_over_time"][0] == {
        "key": None,
        "points": {shown["series"][0]["points"][0]["ts"]: shown["total"]["cost_usd"]},
    }
    listed = answer("list_unpriced_models", model=["nobody's"], **WITHIN)
    [row] = get("costs/unpriced", model="nobody's")["models"]
    assert [{**one, "link": None} for one in listed["models"]] == [{**row, "link": None}]
    assert f"/o/{org.slug}/sessions/t" in listed["models"][0]["link"]


def test_a_session_has_its_costs_by_agent_and_model(send: Send, get: Get, answer: Answer) -> None:
    send({**one, "session_id": "s", "agent_id": f"a{place}"} for place, one in enumerate(CALLS))
    costs = answer("read_session", session_id="s")["costs"]
    assert costs == get("sessions/s")["costs"]
    assert [(one["agent_id"], one["model"], one["cost_usd"]) for one in costs] == [
        ("a1", "gpt-4o", 0.005),
        ("a0", "gpt-4o", 0.0025),
        ("a2", "nobody's", None),
    ]
