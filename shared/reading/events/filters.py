"""The filters of all reads of events."""

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS
from shared.foundation.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.foundation.clickhouse.where import Where
from shared.reading.dimensions.conditions import (
    add_missing,
    add_own_attributes,
    attributes_sql,
    missing_sql,
)
from shared.reading.dimensions.filters import ATTRIBUTES, EFFECTIVE, MISSING
from shared.reading.events.search import MAX_SEARCH_CHARS, add_search, search_sql

MAX_SEARCHES = 10


class EventFilters(Filters):
    """A filter of events; empty lists and None do not filter."""

    declared = (
        *(
            any_of(column.name, column.filter, label=column.label)
            for column in EVENT_COLUMNS
            if column.filter
        ),
        *EFFECTIVE,
        Filter(
            "tag",
            "any_of",
            "tag",
            "hasAny(tags, {})",
            "arrayExists(t -> {}, tags)",
            "t",
            label="Tag",
        ),
        ATTRIBUTES,
        MISSING,
        Filter("event_id", "any_of", "id of the event", "toString(id) IN {}", "{}", "toString(id)"),
        Filter(
            "errored",
            "flag",
            "true: only events that report a failure",
            "is_error",
            "is_error",
            label="Failed",
        ),
        Filter(
            "search",
            "texts",
            "text in the payload's keys and values, in any case; if repeated, any of the texts",
            max_values=MAX_SEARCHES,
            max_chars=MAX_SEARCH_CHARS,
        ),
        Filter("search_exclude", "list", "payload keys that `search` ignores, comma-separated"),
        *time_range("events", published="ts"),
    )

    def where(self, org_id: str) -> Where:
        """Returns the WHERE clause without the time range, which pages narrow themselves."""
        where = super().where(org_id)
        add_own_attributes(where, self["attr"])
        add_missing(where, self["missing"])
        add_search(where, self["search"], self["search_exclude"])
        return where

    def sql(self) -> list[str]:
        """Returns the conditions over the view `events`, with the time range."""
        found = search_sql(self["search"], self["search_exclude"]) if self["search"] else []
        dimensions = [*attributes_sql(self["attr"]), *missing_sql(self["missing"])]
        return [*super().sql(), *dimensions, *found]
