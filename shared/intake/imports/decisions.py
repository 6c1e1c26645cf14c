"""The decisions about traces, which imports share with the records that arrive by OTLP."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.otlp.assignment.assign import Rules
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.otlp.assignment.sessions import Proposal, Session, propose
from shared.intake.otlp.assignment.state import Question, settle

# Traces that are decided about in one call.
_TOGETHER = 500
# No record of a file waits for others.
NO_WAIT_MS = 0


@dataclass(frozen=True)
class StoredDecisions:
    """The decisions of one organization; a dry run reads them and decides nothing."""

    runtime: Runtime
    organization_rules: OrganizationRules
    org_id: str
    dry_run: bool

    def rules(self) -> Rules:
        """Returns what the organization wants done with its records.

        Raises `Unavailable` if that cannot be read.
        """
        with unavailable_when_redis_is_gone():
            rules, _ = self.organization_rules.of(self.org_id)
        return rules

    def sessions(self, traces: Mapping[str, Sequence[Item]]) -> Mapping[str, Session]:
        """Decides the sessions of traces that have none; raises `Unavailable` without Redis."""
        found: dict[str, Session] = {}
        remaining = iter(traces.items())
        while some := list(islice(remaining, _TOGETHER)):
            proposals = {trace_id: proposed(trace_id, items) for trace_id, items in some}
            questions = [
                Question(
                    trace_id,
                    None if self.dry_run else proposals[trace_id],
                    not self.dry_run and has_kinds(items),
                    (),
                )
                for trace_id, items in some
            ]
            with unavailable_when_redis_is_gone():
                answers = settle(self.runtime.redis, self.org_id, questions)
            for (trace_id, items), answer in zip(some, answers, strict=True):
                decided = answer.session
                found[trace_id] = Session(
                    decided.id if decided else proposals[trace_id].id,
                    decided.is_named if decided else proposals[trace_id].is_named,
                    has_kinds(items) or (decided is not None and decided.has_kinds),
                )
        return found


def proposed(trace_id: str, items: Sequence[Item]) -> Proposal:
    """Returns the session of a trace by these records, as if no other could come."""
    return propose(trace_id, items, NO_WAIT_MS, max(item.since_ms for item in items)) or Proposal(
        trace_id, False
    )


def has_kinds(items: Sequence[Item]) -> bool:
    """Returns whether a trace has a span that is not `other`."""
    return any(item.kind != "other" for item in items)
