"""The tools that read costs answer as the routes do."""

import json
from typing import Any

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


def test_tools_answer_as_routes_do(
    app: Flask, runtime: Runtime, org: Org, send: Send, get: Get
) -> None:
    send(CALLS)
    with app.app_context():
        queries = state().queries
    asker = Asker(runtime, queries, org.uuid, org.slug, frozenset({"evaluations:read"}), "a test")
    within = {"since": RANGE["ts_from"], "until": RANGE["ts_to"]}

    def answer(name: str, **arguments: Any) -> Any:
        given = json.dumps({**within, **arguments}).encode()
        return call(asker, name, given).value

    summed = answer("sum_costs", group_by=["user_id"], bucket="month", limit=1)
    shown = get(group_by="user_id", bucket="month", limit=1)
    assert summed["total"] == shown["total"]
    assert summed["groups"] == shown["groups"]
    assert summed["all_further_groups"] == shown["other"]
    assert summed["cost_usd_over_time"][0] == {
        "key": None,
        "points": {shown["series"][0]["points"][0]["ts"]: shown["total"]["cost_usd"]},
    }
    listed = answer("list_unpriced_models", model=["nobody's"])
    [row] = get("costs/unpriced", model="nobody's")["models"]
    assert [{**one, "link": None} for one in listed["models"]] == [{**row, "link": None}]
    assert f"/o/{org.slug}/sessions/t" in listed["models"][0]["link"]
