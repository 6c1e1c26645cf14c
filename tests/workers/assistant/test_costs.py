"""What did support cost last week, by customer, and which model has no price?"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.assistant.evidence import UNVERIFIED
from shared.foundation.core.clock import format_ts
from shared.foundation.deployment.runtime import Runtime
from tests.support import chat
from tests.support.app import Headers
from tests.support.evaluator import Answer, Evaluator
from tests.support.runtime import Org
from tests.support.stored_calls import START_US, call, store_calls
from tests.workers.assistant.conftest import Site, text_of

QUESTION = "What did support cost last week, by customer, and which model has no price?"
# The calls are on Monday, 2 November 2026.
START = datetime.fromtimestamp(START_US // 1_000_000, UTC).replace(hour=0)
WEEK = (format_ts(START), format_ts(START + timedelta(days=7)))
CALLS = [
    call("s1", 0, agent_id="support", user_id="zoe", model="gpt-4o"),
    call("s1", 1, agent_id="support", model="mystery-7b"),
    call("s2", 2, agent_id="support", user_id="adam", model="gpt-4o", cost_usd=0.125),
    # Another agent, and the week after.
    call("s3", 3, agent_id="research", user_id="zoe", model="mystery-8b"),
    call("s4", 8 * 24 * 3600, agent_id="support", user_id="zoe", model="mystery-9b"),
]


def _value(result: str) -> Any:
    """Returns what a tool returned, without the marks around it."""
    return json.loads(result[result.index(">") + 1 : result.rindex("<")])


def _answer(results: Sequence[str]) -> Answer:
    """Says what the tools returned."""
    costs, unpriced = map(_value, results)
    groups = ", ".join(f"{one['key']['user_id']} ${one['cost_usd']}" for one in costs["groups"])
    models = ", ".join(f"{one['model']} ({one['calls']} call)" for one in unpriced["models"])
    total = costs["total"]["cost_usd"]
    return chat.saying(f"Support cost at least ${total}: {groups}. Without a price: {models}.")


def test_the_question_is_answered_with_the_figures_of_the_routes(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    store_calls(runtime, org, CALLS)
    of_support = {"agent_id": ["support"], "since": WEEK[0], "until": WEEK[1]}
    model.script = [
        chat.calling(
            ("sum_costs", {**of_support, "group_by": ["user_id"]}),
            ("list_unpriced_models", of_support),
        ),
        chat.by_results(_answer),
    ]
    answer = text_of(site.ask(me, QUESTION))
    assert answer.strip() == (
        "Support cost at least $2.625: zoe $2.5, adam $0.125. Without a price: mystery-7b (1 call)."
    )
    assert UNVERIFIED not in answer
    costs, unpriced = map(_value, chat.results_in(model.requests[1]))

    def read(path: str, **more: str) -> Any:
        query = {"agent_id": "support", "ts_from": WEEK[0], "ts_to": WEEK[1], **more}
        return site.client.get(f"/v1/{path}", query_string=query, headers=me).get_json()

    shown = read("costs", group_by="user_id")
    assert (costs["total"], costs["groups"]) == (shown["total"], shown["groups"])
    listed = read("costs/unpriced")
    assert unpriced["total"] == listed["total"]
    links = [one.pop("link") for one in unpriced["models"]]
    assert unpriced["models"] == listed["models"]
    assert links == [link for link in links if f"/o/{org.slug}/sessions/s1" in link]
