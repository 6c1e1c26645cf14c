"""The user, the version, the tags and the attributes of an event, and what is left out."""

from typing import Any

import msgspec
import pytest

from shared.intake.ingest.dimensions import (
    DimensionRules,
    EventDimensions,
    OmittedValues,
    drop_refused,
    read_dimensions,
)
from shared.intake.ingest.fields import read_fields

LONG = "x" * 257
NO_RULES = DimensionRules()


def read(
    rules: DimensionRules = NO_RULES, event_type: str = "note", **fields: Any
) -> tuple[EventDimensions, OmittedValues]:
    """Returns the dimensions of an event with these fields, and the counts of the left-out."""
    payload = msgspec.json.encode({"session_id": "s", "type": event_type, **fields})
    left_out = OmittedValues()
    found = read_dimensions(event_type, read_fields(payload), payload, rules, left_out)
    return found, left_out


def test_an_event_without_dimensions() -> None:
    assert read(model="m") == ((None, None, [], {}), {})


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("zoe", "zoe"),
        (4711, "4711"),
        (-1, "-1"),
        ("x" * 256, "x" * 256),
        ("", None),
        ("[redacted]", None),
        ("a\nb", None),
        (None, None),
    ],
)
def test_users(sent: object, expected: str | None) -> None:
    found, left_out = read(user_id=sent)
    assert (found.user_id, left_out) == (expected, {})


@pytest.mark.parametrize(
    ("sent", "reason"),
    [(LONG, "too_long"), (True, "not_scalar"), (1.5, "not_scalar"), ({"id": 1}, "not_scalar")],
)
def test_users_that_are_left_out(sent: object, reason: str) -> None:
    found, left_out = read(user_id=sent)
    assert (found.user_id, left_out) == (None, {reason: 1})


@pytest.mark.parametrize(
    "event_type", ["agent_pause", "agent_resume", "human_pause", "human_interrupt"]
)
def test_a_person_who_acts_is_no_user(event_type: str) -> None:
    assert read(event_type=event_type, user_id="ann")[0].user_id is None


def test_a_release_is_a_version_unless_there_is_another() -> None:
    assert read(release="r7")[0].agent_version == "r7"
    assert read(release="r7", agent_version="2.1")[0].agent_version == "2.1"
    assert read(release="r7", agent_version="")[0].agent_version == "r7"


def test_tags_are_distinct_and_sorted() -> None:
    assert read(tags="beta")[0].tags == ["beta"]
    found, left_out = read(tags=["b", "a", "b", "", None, 7, ["c"], "y" * 65])
    assert found.tags == ["a", "b"]
    assert left_out == {"not_scalar": 2, "too_long": 1}
    many, left_out = read(tags=[f"t{number:02d}" for number in range(40)])
    assert many.tags == [f"t{number:02d}" for number in range(32)]
    assert left_out == {"too_many": 8}


def test_attributes_are_scalars_of_attributes_and_then_of_metadata() -> None:
    found, left_out = read(
        attributes={"plan": "pro", "seats": 4, "trial": False, "rate": 1.50, "none": None},
        metadata={"plan": "free", "region": "eu", "list": [1], "two words": "x", LONG: "x"},
    )
    assert found.attributes == {
        "plan": "pro",
        "seats": "4",
        "trial": "false",
        "rate": "1.5",
        "region": "eu",
    }
    assert left_out == {"not_scalar": 1, "bad_key": 1, "too_long": 1}


def test_attributes_beyond_the_first_are_left_out() -> None:
    found, left_out = read(metadata={f"k{number}": number for number in range(40)})
    assert list(found.attributes) == [f"k{number}" for number in range(32)]
    assert left_out == {"too_many": 8}


def test_further_paths_are_attributes() -> None:
    rules = DimensionRules(paths=("customer.plan", "host.name", "cloud.region", "nothing"))
    found, _ = read(
        rules,
        customer={"plan": "pro", "name": "Zoe"},
        otel={"attributes": {"host.name": "a1"}, "resource": {"cloud.region": "eu"}},
    )
    assert found.attributes == {
        "customer.plan": "pro",
        "host.name": "a1",
        "cloud.region": "eu",
    }


def test_dimensions_with_redacted_names_stay_empty() -> None:
    rules = DimensionRules(frozenset({"user_id", "agent_version", "tags", "plan"}))
    found, left_out = read(
        rules, user_id="zoe", release="7", tags=["a"], attributes={"Plan": "pro", "region": "eu"}
    )
    assert found == (None, None, [], {"region": "eu"})
    assert not left_out


@pytest.mark.parametrize("sent", ['"text"', "[1]", "7", '{"a": {"b": 1}, "a": 1e400}'])
def test_odd_metadata_is_no_error(sent: str) -> None:
    payload = f'{{"session_id": "s", "metadata": {sent}}}'.encode()
    found = read_dimensions("note", read_fields(payload), payload, NO_RULES, OmittedValues())
    assert found.user_id is None


def test_attributes_whose_keys_have_no_place_are_left_out() -> None:
    rules, left_out = DimensionRules(refused=lambda keys: {"b"}.intersection(keys)), OmittedValues()
    events = [read(attributes=sent)[0] for sent in ({"a": 1, "b": 2}, {"b": 3}, {})]
    drop_refused(events, rules, left_out)
    assert [one.attributes for one in events] == [{"a": "1"}, {}, {}]
    assert (left_out, left_out.keys_full) == ({"keys_full": 2}, {"b"})
