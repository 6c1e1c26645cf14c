"""The filters of all reads of events."""

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS
from shared.foundation.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.foundation.clickhouse.where import Where
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
        add_search(where, self["search"], self["search_exclude"])
        return where

    def sql(self) -> list[str]:
        """Returns the conditions over the view `events`, with the time range."""
        found = search_sql(self["search"], self["search_exclude"]) if self["search"] else []
        return [*super().sql(), *found]
