"""The filters of all reads of results."""

from typing import get_args

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.filters import Filter, Filters, any_of, time_range
from shared.foundation.clickhouse.where import Where, moment
from shared.foundation.core.clock import to_us
from shared.reading.dimensions.conditions import (
    add_to_session,
    session_attributes,
    session_missing,
)
from shared.reading.dimensions.filters import ATTRIBUTES, IN_SESSION, MISSING, dimensions_sql
from shared.reading.evaluations.records import Status
from shared.reading.evaluations.score_filters import (
    MAX_FILTERS,
    conditions,
    parse_score_filters,
    score_sql,
)
from shared.reading.evaluations.tables import EVERY, ResultTable, session_key, table_of

STATUSES = get_args(Status)

SCORE_FILTERS = Filter(
    "score_filters",
    "list",
    "`key:min..max`, either bound optional; several, comma-separated, must all match; at most"
    f" {MAX_FILTERS}",
    parse=parse_score_filters,
)


# Without it a read means the built-in evaluators, whose results have a table of their own.
EVALUATOR = Filter(
    "evaluator",
    "any_of",
    "key of the evaluator, `*` for all; without it `default` and `otlp`",
    label="Evaluator",
)

TIMES = ("completion", "session")

# Any newest event of a session at or after `ts_from` is in a row that is, too.
_SESSIONS = """session_id IN (
    SELECT session_id FROM agent_sessions WHERE {where} GROUP BY session_id HAVING {newest})
"""

_NEWEST = "SELECT argMax(id, (completed_at, id)) FROM evaluations GROUP BY session_id"
_NEWEST_OF_EACH = (
    "SELECT argMax(evaluation_id, (completed_at, evaluation_id)) FROM results"
    " GROUP BY session_id, evaluator"
)


class EvaluationFilters(Filters):
    """The filters of results; `ts_from` and `ts_to` bound the time of completion.

    With `time=session` they bound the time of the session's last event instead.

    With `latest_per_session` a result must also be the newest of its session, regardless of the
    other filters: a session whose error was followed by a success is not among the latest errors.
    """

    declared = (
        any_of("session_id", "session", label="Session"),
        any_of("agent_id", "root agent of the session", label="Agent"),
        any_of("environment", "environment", label="Environment"),
        any_of(
            "status", "status of the result: done, error, timeout", choices=STATUSES, label="Status"
        ),
        EVALUATOR,
        Filter(
            "evaluator_version",
            "any_of",
            "version of the evaluator; needs one `evaluator`",
            "evaluator_version IN {}",
        ),
        SCORE_FILTERS,
        *IN_SESSION,
        ATTRIBUTES,
        MISSING,
        *time_range("completed", "completed_at"),
        Filter(
            "time",
            "choice",
            "what ts_from and ts_to bound: the `completion` of a result (default), or the last"
            " event of its `session`",
            choices=TIMES,
        ),
        Filter(
            "latest_per_session", "flag", "true: only results that are the newest of their session"
        ),
    )

    @property
    def table(self) -> ResultTable:
        """Returns where the results are."""
        return table_of(self["evaluator"])

    @property
    def session_key(self) -> str:
        """Returns the columns of which a result may be the newest."""
        return session_key(self["evaluator"])

    @property
    def is_by_session(self) -> bool:
        """Whether the time of a result is that of its session's last event."""
        return bool(self["time"] == "session")

    def where(self, org_id: str) -> Where:
        """Returns the WHERE clause of everything but `latest_per_session`."""
        if self.is_by_session and (self.ts_from or self.ts_to):
            where = self.replace(ts_from=None, ts_to=None).where(org_id)
            some = Where(org_id).between("last_event_at", self.ts_from, None)
            newest = [
                f"max(last_event_at) {sign} {moment(name)}"
                for name, sign in (("ts_from", ">="), ("ts_to", "<"))
                if self[name]
            ]
            bounds = {name: to_us(self[name]) for name in ("ts_from", "ts_to") if self[name]}
            condition = _SESSIONS.format(where=some, newest=" AND ".join(newest))
            return where.add(condition, **{**some.params, **bounds})
        where = super().where(org_id)
        if self["evaluator"] and EVERY not in self["evaluator"]:
            where.any_of("evaluator", self["evaluator"])
        texts, params = conditions(self["score_filters"])
        where.params.update(params)
        for text in texts:
            where.add(text)
        add_to_session(where, session_attributes(where, self["attr"]))
        seen = session_missing(where, self["missing"], negated=True)
        add_to_session(where, seen, exclude=True)
        return where

    def _of_evaluators(self) -> list[str]:
        found = []
        if self["evaluator"] and EVERY not in self["evaluator"]:
            found.append(literals.is_one_of("evaluator", self["evaluator"]))
        if self["evaluator_version"]:
            found.append(literals.is_one_of("evaluator_version", self["evaluator_version"]))
        return found

    def sql(self) -> list[str]:
        """Returns the conditions over the view `evaluations`, or `results` of some evaluators."""
        if self.is_by_session and (self.ts_from or self.ts_to):
            moved = self.replace(ts_from=None, ts_to=None)
            bounds = time_range("", "last_event_at")
            newest = " AND ".join(
                one.sql(self[one.parameter]) for one in bounds if self[one.parameter]
            )
            sessions = f"SELECT session_id FROM agent_sessions WHERE {newest}"
            return [*moved.sql(), f"session_id IN ({sessions})"]
        found = [
            *super().sql(),
            *self._of_evaluators(),
            *dimensions_sql(self),
            *(score_sql(one) for one in self["score_filters"]),
        ]
        if self["latest_per_session"]:
            found.append(f"id IN ({_NEWEST_OF_EACH if self['evaluator'] else _NEWEST})")
        return found
