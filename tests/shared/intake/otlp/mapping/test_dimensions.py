"""The user, the version, the tags and the attributes of all events of a record."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from shared.intake.otlp.mapping import Assignment, Role, log_events, span_events
from shared.intake.otlp.records import LogRecord, Resource, Span
from tests.support.otlp_spans import LIMIT, ORG, SCOPE, assignment_of, log, span, span_event

USER = [
    "user.id",
    "enduser.id",
    "langfuse.user.id",
    "traceloop.association.properties.user_id",
    "ai.telemetry.metadata.userId",
    "langsmith.metadata.user_id",
]
VERSION = [
    "gen_ai.agent.version",
    "langfuse.release",
    "langfuse.version",
    "app.version",
    "service.version",
]
TAGS = ["langfuse.trace.tags", "tag.tags", "langsmith.span.tags", "ai.telemetry.metadata.tags"]
FAMILIES = [
    "langfuse.trace.metadata",
    "langfuse.observation.metadata",
    "traceloop.association.properties",
    "ai.telemetry.metadata",
    "langsmith.metadata",
]
TEXTS = [
    *(("user_id", name) for name in USER),
    *(("agent_version", name) for name in VERSION),
]
ROLES: list[Role] = ["agent", "model", "tool", "retrieval", "guardrail", "span"]
# Those that the events of an agent had before, instead of `otel`.
OF_AGENTS = USER[:5]


def payloads(of: Span, role: Role = "model", **resource: Any) -> list[dict[str, Any]]:
    """The payloads of a span's events; `__` in names of the resource stands for a dot."""
    told = Resource({key.replace("__", "."): value for key, value in resource.items()})
    events = span_events(ORG, of, told, SCOPE, assignment_of(of, role, told), LIMIT)
    return [msgspec.json.decode(event.payload) for event in events]


def values(field: str, told: dict[str, Any], **resource: Any) -> Any:
    """The value of a field, which all events of a span must have."""
    found = [payload.get(field) for payload in payloads(span(told), **resource)]
    assert all(value == found[0] for value in found)
    return found[0]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("field", "attribute"), TEXTS)
def test_a_text_of_the_span_is_in_all_its_events(role: Role, field: str, attribute: str) -> None:
    failed = span_event("exception", exception__type="E")
    for payload in payloads(span({attribute: "told"}, events=[failed]), role):
        assert payload[field] == "told"
    consumed = role == "agent" and attribute in OF_AGENTS
    assert (attribute in payloads(span({attribute: "told"}), role)[-1]["otel"]["attributes"]) != (
        consumed
    )


@pytest.mark.parametrize(("field", "attribute"), TEXTS)
def test_a_text_of_the_resource_counts_without_one_of_the_span(field: str, attribute: str) -> None:
    resource = {attribute.replace(".", "__"): "resource"}
    assert values(field, {}, **resource) == "resource"
    for other in (name for of, name in TEXTS if of == field):
        assert values(field, {other: "span"}, **resource) == "span"


@pytest.mark.parametrize("names", [USER, VERSION])
def test_the_first_text_counts(names: list[str]) -> None:
    field = "user_id" if names is USER else "agent_version"
    for before, after in pairwise(names):
        assert values(field, {after: "second", before: "first"}) == "first"


@pytest.mark.parametrize("as_text", [True, False])
def test_metadata_names_the_user_last(as_text: bool) -> None:
    metadata: Any = {"user_id": "zoe", "plan": "pro"}
    told = {"metadata": json.dumps(metadata) if as_text else metadata}
    assert values("user_id", told) == "zoe"
    assert values("user_id", {**told, "langsmith.metadata.user_id": "ann"}) == "ann"
    assert values("user_id", {"metadata": "[1]"}) is None


@pytest.mark.parametrize("nothing", ["", "a\x00b", "a\nb", "[redacted]", None, [], {}, True, 1.5])
def test_the_next_source_counts_without_a_value(nothing: Any) -> None:
    assert values("user_id", {"user.id": nothing, "enduser.id": "zoe"}) == "zoe"
    assert values("user_id", {"user.id": nothing}, user__id="ann") == "ann"
    assert values("agent_version", {"app.version": nothing}) is None
    assert values("tags", {"tag.tags": nothing, "langsmith.span.tags": "a"}) == ["a"]


def test_an_integer_is_a_text() -> None:
    assert values("user_id", {"user.id": 7}) == "7"


@pytest.mark.parametrize("attribute", TAGS)
@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a", "b, c"]', ["a", "b, c"]),
        ("a, b,,c ", ["a", "b", "c"]),
        ("a", ["a"]),
        (["a ", 1, None, "", "[redacted]", "b\x07"], ["a "]),
        ("[redacted]", None),
        ("[a", ["[a"]),
        ({"a": 1}, None),
        (7, None),
    ],
)
def test_tags(attribute: str, tags: Any, found: list[str] | None) -> None:
    assert values("tags", {attribute: tags}) == found
    assert payloads(span({attribute: tags}))[-1]["otel"]["attributes"][attribute] == tags


def test_the_first_tags_count_and_none_are_put_together() -> None:
    for before, after in pairwise(TAGS):
        assert values("tags", {after: "b", before: "a"}) == ["a"]
    assert values("tags", {"tag.tags": "a"}, tag__tags="b") == ["a"]
    assert values("tags", {}, tag__tags="b") == ["b"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_names_of_a_family_are_keys(family: str) -> None:
    told = {f"{family}.plan": "pro", f"{family}.a.b": 7, f"{family}.on": True, f"{family}.x": 1.5}
    assert values("attributes", told) == {"plan": "pro", "a.b": 7, "on": True, "x": 1.5}
    assert payloads(span(told))[-1]["otel"]["attributes"] == told
    assert values("attributes", {family: "pro"}) is None


@pytest.mark.parametrize("as_text", [True, False])
def test_the_members_of_metadata_are_attributes(as_text: bool) -> None:
    metadata: Any = {"plan": "pro", "seats": 7, "none": None, "empty": "", "list": [], "o": {}}
    told = {"metadata": json.dumps(metadata) if as_text else metadata}
    assert values("attributes", told) == {"plan": "pro", "seats": 7}
    assert payloads(span(told))[-1]["otel"]["attributes"] == told


def test_attributes_of_other_rules_are_left_out() -> None:
    read = {
        "metadata": {"session_id": "s", "thread_id": "t", "lc_agent_name": "a", "user_id": "u"},
        "traceloop.association.properties.session_id": "s",
        "traceloop.association.properties.user_id": "u",
        "ai.telemetry.metadata.sessionId": "s",
        "ai.telemetry.metadata.userId": "u",
        "ai.telemetry.metadata.tags": ["a"],
        "langsmith.metadata.session_id": "s",
        "langsmith.metadata.user_id": "u",
    }
    assert values("attributes", read) is None
    assert values("attributes", {"other.plan": "pro", "langfuse.trace.name": "x"}) is None


def test_of_attributes_with_one_key_the_first_counts() -> None:
    told: dict[str, Any] = {f"{family}.plan": family for family in reversed(FAMILIES)}
    assert values("attributes", told) == {"plan": FAMILIES[0]}
    assert values("attributes", {**told, "metadata": '{"plan": "pro"}'}) == {"plan": "pro"}
    told[f"{FAMILIES[0]}.plan"] = "[redacted]"
    assert values("attributes", told) == {"plan": FAMILIES[1]}


def test_attributes_of_the_span_and_of_the_resource_are_put_together() -> None:
    resource = {
        "service__namespace": "shop",
        "vcs__repository__name": "notes",
        "vcs__ref__head__name": "main",
        "langsmith__metadata__plan": "free",
        "other": "x",
    }
    of_resource = {"service.namespace": "shop", "repository": "notes", "branch": "main"}
    assert values("attributes", {}, **resource) == {**of_resource, "plan": "free"}
    told = {"metadata": {"plan": "pro", "branch": "topic"}}
    both = {**of_resource, "plan": "pro", "branch": "topic"}
    assert values("attributes", told, **resource) == both
    assert values("attributes", {"vcs.ref.head.name": "main"}) is None


def test_long_values_are_not_repeated() -> None:
    told = {
        "metadata": {"a": "x" * 1024, "b": "x" * 1025, "c": ["x"], "d": ["x" * 1024], "e" * 1025: 1}
    }
    assert values("attributes", told) == {"a": "x" * 1024, "c": ["x"]}
    assert values("user_id", {"user.id": "x" * 1025, "enduser.id": "zoe"}) is None
    many = {f"langsmith.metadata.k{number:04}": number for number in range(1000)}
    assert len(values("attributes", many)) == 64
    assert len(values("tags", {"tag.tags": [str(number) for number in range(1000)]})) == 64


def test_a_span_without_dimensions_has_none() -> None:
    for payload in payloads(span({"gen_ai.request.model": "m"}), service__name="shop"):
        assert not {"user_id", "agent_version", "tags", "attributes"} & payload.keys()


@pytest.mark.parametrize("role", ROLES)
def test_ids_and_all_other_fields_do_not_depend_on_dimensions(role: Role) -> None:
    asked = {"gen_ai.request.model": "m", "input.value": "Hi"}
    told = {**asked, "app.version": "2", "tag.tags": "a", "metadata": '{"plan": "pro"}'}
    resource = Resource({"service.namespace": "shop", "user.id": "zoe"})
    plain, named = span(asked), span(told)
    before = span_events(ORG, plain, Resource({}), SCOPE, assignment_of(plain, role), LIMIT)
    after = span_events(ORG, named, resource, SCOPE, assignment_of(named, role), LIMIT)
    for one, other in zip(before, after, strict=True):
        assert (one.id, one.ts, one.event_type) == (other.id, other.ts, other.event_type)
        fields = msgspec.json.decode(other.payload)
        for name in ("user_id", "agent_version", "tags", "attributes"):
            del fields[name]
        assert fields.keys() == msgspec.json.decode(one.payload).keys()


def of_log(record: LogRecord, **resource: Any) -> list[dict[str, Any]]:
    told = Resource({key.replace("__", "."): value for key, value in resource.items()})
    events = log_events(ORG, record, told, SCOPE, Assignment("a session", "bot"), LIMIT)
    return [msgspec.json.decode(event.payload) for event in events]


@pytest.mark.parametrize(
    "name",
    [
        *("a.b", "gen_ai.user.message", "gen_ai.client.inference.operation.details"),
        *("gen_ai.evaluation.result", "codex.tool_result", "codex.user_prompt"),
    ],
)
def test_all_kinds_of_log_records_have_them(name: str) -> None:
    told = {"enduser.id": "zoe", "tag.tags": "a", "metadata": '{"plan": "pro"}'}
    found = of_log(log(told, event_name=name), service__version="2", service__namespace="shop")
    assert found
    for payload in found:
        assert (payload["user_id"], payload["agent_version"]) == ("zoe", "2")
        assert payload["tags"] == ["a"]
        assert payload["attributes"] == {"plan": "pro", "service.namespace": "shop"}


CLAUDE = ["user.email", "user.account_uuid", "user.id"]


def test_the_user_of_claude_code_is_an_account_before_a_device() -> None:
    for before, after in pairwise(CLAUDE):
        told = {after: "second", before: "first"}
        for body in ("claude_code.tool_result", "claude_code.user_prompt", "claude_code.other"):
            for payload in of_log(log(told, body=body)):
                assert payload["user_id"] == "first"
        for payload in payloads(span(told, name="claude_code.interaction"), "agent"):
            assert payload["user_id"] == "first"
    [payload] = of_log(log({"user.id": "device"}, body="claude_code.other"), user__email="z@x")
    assert payload["user_id"] == "device"
    [payload] = of_log(log(body="claude_code.other"), user__id="device", user__email="z@x")
    assert payload["user_id"] == "z@x"
    [payload] = payloads(span({"user.email": "z@x"}, name="claude_code.tool"), "span")
    assert payload["user_id"] == "z@x"


def test_others_are_not_named_by_their_address() -> None:
    told = {"user.email": "z@x", "user.account_uuid": "u"}
    assert "user_id" not in of_log(log(told, event_name="codex.other"))[0]
    assert "user_id" not in payloads(span(told))[0]
    told["user.id"] = "zoe"
    assert of_log(log(told, event_name="codex.other"))[0]["user_id"] == "zoe"
    assert payloads(span(told))[0]["user_id"] == "zoe"


def test_dimensions_of_an_event_that_is_too_large_are_not_cut() -> None:
    told = {
        "user.id": "zoe" * 80,
        "tag.tags": ["a" * 64] * 30,
        "metadata": {f"key {number}": "x" * 250 for number in range(30)},
        **{f"small.{number:05}": "y" * 20 for number in range(3000)},
    }
    event = span_events(ORG, span(told), Resource({}), SCOPE, Assignment("s", "a"), 64 * 1024)[0]
    payload = msgspec.json.decode(event.payload)
    assert len(event.payload) <= 64 * 1024
    assert payload["user_id"] == told["user.id"]
    assert (payload["tags"], payload["attributes"]) == (told["tag.tags"], told["metadata"])


def test_dimensions_that_leave_no_room_are_left_out() -> None:
    told = {"metadata": {f"key {number}": "x" * 1000 for number in range(60)}}
    event = span_events(ORG, span(told), Resource({}), SCOPE, Assignment("s", "a"), 16 * 1024)[0]
    assert len(event.payload) <= 16 * 1024
    assert "attributes" not in msgspec.json.decode(event.payload)
