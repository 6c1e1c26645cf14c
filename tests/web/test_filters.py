"""Query schemas made of declared filters."""

from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS
from shared.foundation.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.reading.events.filters import EventFilters
from shared.reading.events.latency.query import LatencyFilters
from web.filters import DOCUMENTED, filtered


class Declared(Filters):
    declared = (
        any_of("session_id", "session"),
        any_of("kind", "kind", "lower(kind)", choices=("a", "b")),
        Filter("late", "flag", "late ones", "is_late"),
        Filter("names", "list", "names", parse=lambda given: [name.upper() for name in given]),
        *time_range("rows", "moment"),
    )


class Own(Schema):
    limit = fields.Integer(load_default=5)


def load(**query: str) -> tuple[Filters, dict[str, Any]]:
    loaded: dict[str, Any] = filtered(Declared, Own)().load(query)
    return loaded.pop("filters"), loaded


def test_filters_are_loaded_apart_from_other_parameters() -> None:
    filters, rest = load(session_id="s,t", names="x", limit="7")
    assert (filters.session_ids, filters["names"], rest) == (["s", "t"], ["X"], {"limit": 7})


def test_each_value_is_a_bound_condition() -> None:
    filters, _ = load(kind="a", late="true", ts_to="1970-01-01T00:00:01Z")
    where = filters.where("org")
    assert where.added == (
        "(lower(kind) IN {any_kind:Array(String)})",
        "(is_late)",
        "(moment < fromUnixTimestamp64Micro({ts_to:Int64}, 'UTC'))",
    )
    assert where.params == {"org_id": "org", "any_kind": ["a"], "ts_to": 1_000_000}


def test_without_values_nothing_is_filtered() -> None:
    filters, rest = load()
    assert (bool(filters), filters.where("org").added, rest) == (False, (), {"limit": 5})
    assert not load(session_id="s")[0].replace(session_id=None)


def test_a_value_that_is_no_choice_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be one of a, b"):
        load(kind="a,c")


def test_a_filter_that_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match="Declared has no filter agent_id"):
        Declared(agent_id=["a"])


def test_a_parameter_is_never_a_filter_by_its_name_alone() -> None:
    class Clash(Schema):
        kind = fields.String()

    with pytest.raises(ValueError, match="kind: Declared must leave out"):
        filtered(Declared, Clash)


def test_a_column_with_a_description_is_a_filter_of_events() -> None:
    filterable = [column.name for column in EVENT_COLUMNS if column.filter]
    declared = [one.parameter for one in EventFilters.declared]
    assert declared[: len(filterable)] == filterable


@pytest.mark.parametrize("filters", DOCUMENTED.values())
def test_every_read_filters_by_session_and_time(filters: type[Filters]) -> None:
    names = {one.parameter for one in filters.declared}
    assert names >= {"session_id", "ts_from", "ts_to"}
    assert len(names) == len(filters.declared)


def test_the_range_of_latencies_is_about_starts() -> None:
    [since] = [one for one in LatencyFilters.declared if one.parameter == "ts_from"]
    assert "pairs that start" in since.description
