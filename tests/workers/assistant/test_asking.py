"""Questions to the assistant that are refused: their limits, their form and their people."""

from typing import Any

import pytest

from shared.assistant.limits import MAX_TURNS_OF_PERSON
from shared.foundation.deployment.runtime import Runtime
from tests.support import chat
from tests.support.app import Headers, new_key
from tests.support.evaluator import Evaluator
from tests.support.people import new_member
from tests.support.runtime import Org
from tests.workers.assistant.conftest import PATH, Site


def test_questions_are_limited(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    waiting = [site.open(me, "Hello?") for _ in range(MAX_TURNS_OF_PERSON)]
    assert {one.status_code for one in waiting} == {200}
    refused = site.open(me, "Hello?")
    assert (refused.status_code, refused.get_json()["code"]) == (429, "assistant_busy")
    assert int(refused.headers["Retry-After"]) > 0


def test_the_tokens_of_a_day_are_limited(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    admin = new_member(runtime, org)
    model.default = chat.saying("Yes.", usage=False)
    changed = site.client.put(
        "/v1/settings/assistant.daily_tokens", json={"value": 10}, headers=admin
    )
    assert changed.status_code == 200, changed.data
    # A server that reports no tokens is counted by the length of the texts.
    assert site.ask(me, "Hello?")[-1]["usage"]["input_tokens"] > 10
    refused = site.open(me, "Hello?")
    assert (refused.status_code, refused.get_json()["code"]) == (429, "assistant_budget")
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400


def bad(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": {"text": "Hello?"}}], **fields}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, None),
        (bad(messages=[]), 422, "messages"),
        (bad(messages=[{"role": "system", "content": {"text": "x"}}]), 422, "messages.0.role"),
        (bad(messages=[{"role": "assistant", "content": {"text": "x"}}]), 422, "messages"),
        (bad(messages=[{"role": "user", "content": {"text": " "}}]), 422, "messages"),
        (bad(messages=[{"role": "user", "content": {"text": "x" * 20_001}}]), 422, "messages"),
        (bad(model="other"), 422, "model"),
        (bad(pageContext="x" * 600_000), 413, None),
    ],
    ids=["empty", "none", "system", "answer-last", "blank", "long", "model", "large"],
)
def test_a_bad_request_names_the_field(
    site: Site, model: Evaluator, me: Headers, body: dict[str, Any], status: int, field: str | None
) -> None:
    refused = site.client.post(PATH, json=body, headers=me)
    assert refused.status_code == status, refused.data
    if field is not None:
        assert field in refused.get_json()["fields"], refused.data


def test_the_health_names_the_models(site: Site, model: Evaluator, me: Headers) -> None:
    assert site.client.get("/v1/agent/health", headers=me).get_json() == {
        "enabled": True,
        "llm_configured": True,
        "model": "small",
        "models": ["small", "large"],
        "default_model": "small",
    }
    assert site.client.get("/v1/agent/health").status_code == 401


def test_only_people_who_may_ask(site: Site, model: Evaluator, runtime: Runtime, org: Org) -> None:
    reader = new_member(runtime, org, permission_set="read-only")
    for headers in (reader, new_key(runtime, org)):
        assert site.open(headers, "Hello?").status_code == 403
