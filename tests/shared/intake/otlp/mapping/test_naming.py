"""The session, the agent and the environment that a record names."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import (
    environment_of,
    own_agent,
    root_agent,
    service_agent,
    session_name,
)
from shared.intake.otlp.records import Resource
from tests.support.otlp_spans import RESOURCE, log, span

SESSION = [
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "lmnr.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "conversation.id",
    "thread_id",
    "langsmith.metadata.session_id",
]


@pytest.mark.parametrize("attribute", SESSION)
def test_an_attribute_names_the_session(attribute: str) -> None:
    named = {attribute: "s"}
    rank = SESSION.index(attribute)
    assert session_name(span(named), RESOURCE) == (rank, "s")
    assert session_name(log(named), RESOURCE) == (rank, "s")
    assert session_name(span(), Resource(named)) == (rank + 10, "s")


@pytest.mark.parametrize(
    "metadata",
    [
        json.dumps({"thread_id": "s", "langgraph_step": 1}),
        json.dumps({"session_id": "s", "thread_id": "t"}),
        {"thread_id": "s"},
    ],
)
def test_metadata_names_the_session(metadata: Any) -> None:
    assert session_name(span({"metadata": metadata}), RESOURCE) == (9, "s")


def test_the_order_of_names() -> None:
    for before, after in pairwise(SESSION):
        named = {after: "second", before: "first"}
        assert session_name(span(named), Resource({"session.id": "third"})) == (
            SESSION.index(before),
            "first",
        )
    metadata = {"metadata": '{"session_id": "second"}', SESSION[-1]: "first"}
    assert session_name(span(metadata), RESOURCE) == (8, "first")


@pytest.mark.parametrize("value", ["", "  ", None, True, 1.5, [], ["s"], {}, {"session_id": "s"}])
def test_other_values_name_no_session(value: Any) -> None:
    assert session_name(span({"session.id": value}), RESOURCE) is None
    assert session_name(span({"metadata": str(value)}), RESOURCE) is None


def test_a_session_is_cleaned_and_cut() -> None:
    assert session_name(span({"session.id": "a\nb\x7f" + "x" * 300}), RESOURCE) == (
        1,
        "a_b_" + "x" * 252,
    )
    assert session_name(span({"thread_id": 7}), RESOURCE) == (7, "7")


@pytest.mark.parametrize(
    "attribute",
    [
        "gen_ai.agent.name",
        "agent.name",
        "traceloop.entity.name",
        "gen_ai.workflow.name",
        "ai.telemetry.functionId",
    ],
)
def test_an_attribute_names_an_agent_span(attribute: str) -> None:
    assert own_agent(span({attribute: "a\tb" + "x" * 300}), "agent") == "a_b" + "x" * 253


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("invoke_agent bot", "bot"),
        ("bot run", "bot run"),
        ("invoke_agent ", "main"),
        ("", "main"),
    ],
)
def test_the_name_of_an_agent_span_is_its_last_source(name: str, agent: str) -> None:
    assert own_agent(span(name=name), "agent") == agent


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.agent.name": "bot", "agent.name": "other"},
        {"agent.name": "bot", "ai.telemetry.functionId": "other"},
        {"ai.telemetry.functionId": "bot", "metadata": '{"lc_agent_name": "other"}'},
        {"metadata": '{"lc_agent_name": "bot"}'},
    ],
)
def test_other_records_name_their_agent(attributes: dict[str, str]) -> None:
    assert own_agent(span(attributes), "model") == "bot"
    assert own_agent(log(attributes), "other") == "bot"


def test_other_records_may_name_none() -> None:
    assert own_agent(span({"traceloop.entity.name": "search"}, name="chat"), "tool") is None
    assert own_agent(log(), "other") is None


def test_coding_agents_are_known_by_their_records() -> None:
    assert own_agent(log(body="claude_code.user_prompt"), "other") == "claude-code"
    assert own_agent(log({"event.name": "codex.user_prompt"}), "other") == "codex"
    assert own_agent(log(event_name="claude_code.api_request"), "other") == "claude-code"


def test_the_service_is_an_agent() -> None:
    assert service_agent(Resource({"service.name": "shop"})) == "shop"
    assert service_agent(Resource({"service.name": "unknown_service:python"})) == "main"
    assert service_agent(Resource({})) == "main"


@pytest.mark.parametrize(
    ("service", "name", "agent"),
    [
        ("shop", "answer", "shop"),
        ("unknown_service:python", "answer", "answer"),
        (None, "answer", "answer"),
        (None, " ", "main"),
    ],
)
def test_the_agent_of_a_trace_is_its_service_else_its_root_span(
    service: str | None, name: str, agent: str
) -> None:
    resource = Resource({} if service is None else {"service.name": service})
    assert root_agent(msgspec.structs.replace(span(), name=name), resource) == agent


@pytest.mark.parametrize(
    "attribute", ["deployment.environment.name", "deployment.environment", "langfuse.environment"]
)
def test_an_attribute_names_the_environment(attribute: str) -> None:
    named = {attribute: "a,b\nc" + "x" * 80}
    assert environment_of(span(named), Resource({attribute: "other"})) == "a_b_c" + "x" * 59
    assert environment_of(log(), Resource(named)) == "a_b_c" + "x" * 59


def test_the_default_environment() -> None:
    assert environment_of(span({"deployment.environment": ""}), RESOURCE) == "default"


def test_the_order_of_environments() -> None:
    named = {"langfuse.environment": "3", "deployment.environment": "2"}
    assert environment_of(span(named), RESOURCE) == "2"
    assert environment_of(span({**named, "deployment.environment.name": "1"}), RESOURCE) == "1"
