"""Counts what becomes of records, for the receipts of their senders."""

from collections.abc import Sequence

from redis.client import Pipeline

from shared.intake.otlp.assignment.assign import AssignedItem
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.mapping import Event, has_content, unmapped
from shared.intake.otlp.mapping.naming import service_of
from shared.intake.otlp.records import Span
from shared.intake.receipts.keys import ACTIVE
from shared.intake.receipts.origin import with_service
from shared.intake.receipts.receipt import REASON, Receipt, Tally, add_up

UNMAPPED = "unmapped:"
_CALL = "model_response"


class Counts:
    """The counts of one turn, by sender, service and hour."""

    def __init__(self) -> None:
        self._by_resource: dict[tuple[int, int], dict[str, int]] = {}
        self._by_row: dict[tuple[str, int], Receipt] = {}

    def mark_of(self, item: Item) -> str:
        """Returns the mark by which the rest of a record is counted later."""
        return self._receipt(item).mark

    def assigned(self, record: AssignedItem, events: Sequence[Event]) -> None:
        """Counts the events that were made of a record."""
        item = record.item
        if not events:
            self.not_stored(item, "log record of a trace without agents")
            return
        tally = self._tally(item)
        tally["events"] = tally.get("events", 0) + len(events)
        span = item.record if isinstance(item.record, Span) else None
        # The response of a call is the last event of its span.
        if events[-1].event_type == _CALL:
            _add_one(tally, "model_calls")
            if span is not None and has_content(span):
                _add_one(tally, "model_contents")
        if span is not None and item.kind != "other" and not item.is_pending:
            for name in unmapped(span):
                _add_one(tally, UNMAPPED + name)

    def not_stored(self, item: Item, reason: str) -> None:
        """Counts a record that becomes no event by choice."""
        self.add(item, {"not_stored": 1, REASON + reason: 1})

    def add(self, item: Item, tally: Tally) -> None:
        """Adds to the counts of a record's sender and service."""
        add_up(self._tally(item), tally)

    def write(self, pipe: Pipeline, org_id: str) -> None:
        """Adds the commands to the transaction of the turn."""
        for receipt in self._by_row.values():
            receipt.add_to(pipe, org_id)
        pipe.sadd(ACTIVE, org_id)

    def _tally(self, item: Item) -> dict[str, int]:
        source = (id(item.source), item.sent.resource)
        found = self._by_resource.get(source)
        if found is None:
            [found] = self._receipt(item).tallies.values()
            self._by_resource[source] = found
        return found

    def _receipt(self, item: Item) -> Receipt:
        row = with_service(item.source.origin, service_of(item.resource) or "")
        made = Receipt(item.source.received_ms * 1000, {row: {}})
        return self._by_row.setdefault((row, made.hour), made)


def _add_one(tally: dict[str, int], name: str) -> None:
    tally[name] = tally.get(name, 0) + 1
