"""A redacted key is no source of a dimension or of usage, and names none either."""

import json
from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import Assignment, log_events, span_events
from shared.intake.otlp.records import Records, Resource
from shared.intake.otlp.redacting import redact
from shared.intake.redaction.rules import Redactor
from tests.support.otlp_spans import LIMIT, ORG, SCOPE, log, span

HUSH = "hush-hush"
WHERE = Assignment("a session", "an agent", None, "model")


def stored(
    redacted: str, told: dict[str, Any], resource: dict[str, Any] | None = None, name: str = "a"
) -> list[dict[str, Any]]:
    """The payloads of a span and of a log record, as the web tier and a worker redact them."""
    redactor = Redactor([redacted])
    made = span(told, name=f"{name}.tool"), log(told, event_name=f"{name}.other")
    records = Records(0, [Resource(resource or {})], [SCOPE], [made[0]], [made[1]])
    redact(records, redactor)
    [of], [sent], [reported] = records.resources, records.spans, records.logs
    events = [
        *span_events(ORG, sent, of, SCOPE, WHERE, LIMIT),
        *log_events(ORG, reported, of, SCOPE, WHERE, LIMIT),
    ]
    return [msgspec.json.decode(redactor.redact(event.payload)) for event in events]


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("enduser.id", "user_id"),
        ("langsmith.metadata.user_id", "user_id"),
        ("app.version", "agent_version"),
        ("service.version", "agent_version"),
        ("tag.tags", "tags"),
        ("langfuse.trace.metadata.plan", "attributes"),
    ],
)
@pytest.mark.parametrize("in_resource", [False, True])
def test_a_redacted_attribute_is_no_source(key: str, field: str, in_resource: bool) -> None:
    told = {key: HUSH}
    nothing: dict[str, Any] = {}
    own, resource = (nothing, told) if in_resource else (told, nothing)
    for payload in stored(key.upper(), own, resource):
        assert field not in payload
        assert HUSH not in repr(payload)


@pytest.mark.parametrize("key", ["service.namespace", "vcs.repository.name", "vcs.ref.head.name"])
def test_a_redacted_attribute_of_a_resource_has_no_other_name(key: str) -> None:
    for payload in stored(key, {}, {key: HUSH}):
        assert "attributes" not in payload
        assert HUSH not in repr(payload)


@pytest.mark.parametrize(
    ("key", "members", "attributes"),
    [
        ("plan", {"plan": HUSH, "a": 1}, {"a": 1}),
        ("plan", {"PLAN": HUSH, "a": 1}, {"a": 1}),
        ("user_id", {"user_id": HUSH, "a": 1}, {"a": 1}),
        ("metadata", {"user_id": HUSH, "plan": HUSH}, None),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_redacted_member_is_no_source(
    key: str, members: dict[str, Any], attributes: dict[str, Any] | None, as_text: bool
) -> None:
    for payload in stored(key, {"metadata": json.dumps(members) if as_text else members}):
        assert payload.get("attributes") == attributes
        assert "user_id" not in payload
        assert HUSH not in repr(payload)


def test_the_next_source_counts() -> None:
    told = {"user.email": HUSH, "user.account_uuid": "u", "user.id": "device"}
    for payload in stored("user.email", told, name="claude_code"):
        assert payload["user_id"] == "u"
        assert HUSH not in repr(payload)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("user_id", {"user.id": HUSH}),
        ("agent_version", {"app.version": HUSH}),
        ("tags", {"tag.tags": HUSH}),
        ("service_tier", {"openai.response.service_tier": HUSH}),
        ("provider", {"gen_ai.system": HUSH}),
        ("cost_usd", {"gen_ai.usage.cost": 0.5}),
    ],
)
def test_a_redacted_field_is_empty_whatever_it_comes_from(key: str, told: dict[str, Any]) -> None:
    found = [payload[key] for payload in stored(key, told) if key in payload]
    assert found
    assert set(found) == {"[redacted]"}


def test_a_redacted_attribute_of_events_is_empty_whatever_it_comes_from() -> None:
    for payload in stored(
        "branch", {"langsmith.metadata.plan": "pro"}, {"vcs.ref.head.name": HUSH}
    ):
        assert payload["attributes"] == {"branch": "[redacted]", "plan": "pro"}


@pytest.mark.parametrize(
    "key",
    [
        *("gen_ai.provider.name", "gen_ai.response.service_tier", "gen_ai.usage.cost"),
        *("gen_ai.usage.audio.input_tokens", "total", "langfuse.observation.cost_details"),
    ],
)
def test_a_redacted_attribute_of_usage_is_no_source(key: str) -> None:
    name = "langfuse.observation.cost_details" if key == "total" else key
    told: dict[str, Any] = {name: {"total": 7} if "details" in name else 7}
    for payload in stored(key, told):
        fields = ("provider", "service_tier", "cost_usd", "audio_input_tokens")
        assert [field for field in fields if field in payload] == []
