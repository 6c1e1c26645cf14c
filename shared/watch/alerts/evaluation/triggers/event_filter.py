"""The filter of a spec as conditions on events."""

from collections.abc import Mapping
from typing import NamedTuple

from shared.reading.dimensions.conditions import effective
from shared.reading.dimensions.names import PREFIX
from shared.watch.alerts.evaluation.triggers.aggregates import Term
from shared.watch.alerts.evaluation.triggers.plan import filtered
from shared.watch.alerts.specs import EventFilter

# Later copies of a row agree in these, so they may be checked before FINAL.
_COLUMNS = ("environment", "event_type", "agent_id", "model", "tool_name")
_DIMENSIONS = {
    "user_id": effective("user_id").format("[?]"),
    "agent_version": effective("agent_version").format("[?]"),
    "tag": "has(tags, ?)",
}


class EventConditions(NamedTuple):
    """The conditions of a filter, and what the evidence shows of it.

    `columns` are the values of columns, `terms` the conditions that have to follow FINAL.
    """

    columns: dict[str, str]
    terms: tuple[Term, ...]
    shown: dict[str, str]


def conditions_of(wanted: EventFilter) -> EventConditions:
    """Returns the conditions that events of the filter meet."""
    columns = filtered(wanted, _COLUMNS)
    named = filtered(wanted, _DIMENSIONS)
    attributes: Mapping[str, str] = wanted.attributes or {}
    terms = (
        *(Term(_DIMENSIONS[name], value) for name, value in named.items()),
        *(Term("attributes[@] = ?", value, key) for key, value in attributes.items()),
    )
    of_attributes = {PREFIX + key: value for key, value in attributes.items()}
    return EventConditions(columns, terms, {**columns, **named, **of_attributes})
