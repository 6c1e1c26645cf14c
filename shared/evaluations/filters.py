"""The filters of all reads of results."""

from typing import get_args

from shared.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.clickhouse.where import Where
from shared.evaluations.records import Status
from shared.evaluations.score_filters import MAX_FILTERS, conditions, parse_score_filters

STATUSES = get_args(Status)

SCORE_FILTERS = Filter(
    "score_filters",
    "list",
    "`key:min..max`, either bound optional; several, comma-separated, must all match; at most"
    f" {MAX_FILTERS}",
    parse=parse_score_filters,
)


class EvaluationFilters(Filters):
    """The filters of results; `ts_from` and `ts_to` bound the time of completion.

    With `latest_per_session` a result must also be the newest of its session, regardless of the
    other filters: a session whose error was followed by a success is not among the latest errors.
    """

    declared = (
        any_of("session_id", "session"),
        any_of("agent_id", "root agent of the session"),
        any_of("environment", "environment"),
        any_of("status", "status of the result: done, error, timeout", choices=STATUSES),
        SCORE_FILTERS,
        *time_range("completed", "completed_at"),
        Filter(
            "latest_per_session", "flag", "true: only results that are the newest of their session"
        ),
    )

    def where(self, org_id: str) -> Where:
        """Returns the WHERE clause of everything but `latest_per_session`."""
        where = super().where(org_id)
        texts, params = conditions(self["score_filters"])
        where.params.update(params)
        for text in texts:
            where.add(text)
        return where
