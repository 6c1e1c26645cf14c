"""Attributes of a span that the mapping does not know."""

import pytest

from shared.intake.otlp.mapping import has_content, unmapped
from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS
from shared.intake.otlp.mapping.tables import FIELDS, KIND_COLUMNS, SESSION
from tests.support.otlp_spans import span, span_event


def test_attributes_of_no_rule_are_unmapped() -> None:
    told = {"vendor.items.0.name": 1, "vendor.v2": 1, "vendor.7": 1, "x" * 300: 1}
    assert list(unmapped(span(told))) == ["vendor.items.N.name", "vendor.v2", "vendor.N", "x" * 200]


def test_attributes_of_rules_are_not() -> None:
    exact = [
        name for names in FIELDS.values() for name in names if name.isascii() and "{" not in name
    ]
    told = [name.replace(".N", ".3.message.role") for name in exact if " + " not in name]
    told = [name.removesuffix("[0]") for name in told]
    told += [*KIND_COLUMNS, *SESSION[:-1], "metadata", "error.type", "ai.response.toolCalls"]
    told += [*DIMENSIONS["agent_version"], *DIMENSIONS["tags"], "user.email", "user.account_uuid"]
    told += [name.replace("*", "plan") for name in DIMENSIONS["attributes"] if "{" not in name]
    assert list(unmapped(span(dict.fromkeys(told, "x")))) == []


@pytest.mark.parametrize(
    "name",
    [
        *("http.method", "url.full", "server.port", "client.address", "network.peer.address"),
        *("code.function", "thread.id", "process.pid", "telemetry.sdk.name", "otel.scope.name"),
        *("logfire.msg", "gen_ai.request.temperature", "gen_ai.response.created"),
        *("gen_ai.provider.name", "gen_ai.system", "llm.system", "llm.provider"),
        "llm.invocation_parameters",
    ],
)
def test_familiar_attributes_are_not(name: str) -> None:
    assert list(unmapped(span({name: 1}))) == []


@pytest.mark.parametrize(
    "name", ["gen_ai.system.prompt", "llm.providers", "httpx", "codes", "langsmith.metadata"]
)
def test_only_whole_names_are_familiar(name: str) -> None:
    assert list(unmapped(span({name: 1}))) == [name]


def test_content() -> None:
    assert has_content(span({"gen_ai.input.messages": "[]"}))
    assert has_content(span({"llm.output_messages.0.message.content": "x"}))
    assert has_content(span({"output.value": "x"}))
    assert has_content(span(events=[span_event("gen_ai.user.message")]))
    assert not has_content(span({"gen_ai.request.model": "m", "gen_ai.input.messages": ""}))
    assert not has_content(span({"llm.tools.0.tool.json_schema": "{}"}))
