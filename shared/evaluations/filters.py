"""The filters of all reads of results."""

from datetime import datetime

import msgspec

from shared.clickhouse.where import Where
from shared.evaluations.records import Status
from shared.evaluations.score_filters import ScoreFilter, conditions


class EvaluationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter of results: AND between fields, OR inside one; an empty field is no condition.

    `ts_from` (inclusive) and `ts_to` (exclusive) bound the time of completion. With
    `latest_per_session` a result must also be the newest of its session, regardless of the other
    fields: a session whose error was followed by a success is not among the latest errors.
    """

    session_ids: tuple[str, ...] = ()
    agent_ids: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    scores: tuple[ScoreFilter, ...] = ()
    ts_from: datetime | None = None
    ts_to: datetime | None = None
    latest_per_session: bool = False

    def where(self, org_id: str) -> Where:
        """Returns the WHERE clause of everything but `latest_per_session`."""
        where = (
            Where(org_id)
            .any_of("session_id", self.session_ids)
            .any_of("agent_id", self.agent_ids)
            .any_of("environment", self.environments)
            .any_of("status", self.statuses)
            .between("completed_at", self.ts_from, self.ts_to)
        )
        texts, params = conditions(self.scores)
        where.params.update(params)
        for text in texts:
            where.add(text)
        return where
