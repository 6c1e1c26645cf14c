"""The spans above a span: its agents, and the call that it repeats."""

from collections.abc import Iterable, Mapping

import msgspec

from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.twins import twins
from shared.intake.otlp.mapping import Kind, is_root_agent, root_agent
from shared.intake.otlp.records import Span

# Alternations between records at hand and remembered spans; a chain of any sender has one or two.
_MAX_ALTERNATIONS = 50


class SpanMemory(msgspec.Struct, array_like=True, gc=False, omit_defaults=True):
    """What the spans below a span need to know about it.

    `agent`: the nearest agent at it or above, "" if none is known. `other_agent`: the next one with
    another name above that. `thing`: `same_thing` of the nearest span at it or above that is not
    `other`. `unknown`: the first span above that is not known, "" if the root is. `is_stored`: the
    events of the finished span exist. `announced`: the arrival of the events of its pending span.
    """

    agent: str = ""
    other_agent: str = ""
    thing: str = ""
    unknown: str = ""
    is_stored: bool = False
    announced: int = 0


_ROOT = SpanMemory()


def joined(lower: SpanMemory, higher: SpanMemory) -> SpanMemory:
    """Returns `lower` with what is known about the spans above it."""
    agent, other = lower.agent, lower.other_agent
    if not agent:
        agent, other = higher.agent, higher.other_agent
    elif not other:
        other = higher.agent if higher.agent != agent else higher.other_agent
    thing = lower.thing or higher.thing
    return SpanMemory(agent, other, thing, higher.unknown, lower.is_stored, lower.announced)


class Chains:
    """The spans of a trace at hand, and remembered ones, linked to their parents.

    `at_hand` has one item a span. `above` and `below` have what is known above each of them, and
    what the spans below it see, parents before children. `repeated` are those whose call another
    one beside them reports (`twins`).
    """

    def __init__(
        self, items: Iterable[Item], known: Mapping[str, SpanMemory], *, is_agentic: bool
    ) -> None:
        self.at_hand: dict[str, Item] = {}
        self.above: dict[str, SpanMemory] = {}
        self.below: dict[str, SpanMemory] = {}
        self.kinds: dict[str, Kind] = {}
        self._known = known
        self._is_agentic = is_agentic
        for item in items:
            other = self.at_hand.get(item.record.span_id)
            if other is None or (other.is_pending and not item.is_pending):
                self.at_hand[item.record.span_id] = item
        self.repeated = twins(self.at_hand.values())
        for item in self.at_hand.values():
            self._resolve(item, 0)

    def seen(self, span_id: str, alternations: int = 0) -> SpanMemory:
        """Returns a span as those below it see it, whether it is known or not."""
        if span_id in self.below:
            return self.below[span_id]
        if span_id in self.at_hand and alternations < _MAX_ALTERNATIONS:
            self._resolve(self.at_hand[span_id], alternations)
            return self.below[span_id]
        found = self._known.get(span_id)
        if found is None:
            return SpanMemory(unknown=span_id)
        if not found.unknown or alternations >= _MAX_ALTERNATIONS:
            return found
        return joined(found, self.seen(found.unknown, alternations + 1))

    def _resolve(self, item: Item, alternations: int) -> None:
        """Resolves a span after its parents at hand; a parent that is below its child ends it."""
        path: dict[str, Item] = {}
        current: Item | None = item
        while current is not None:
            span_id = current.record.span_id
            if span_id in self.below or span_id in path:
                break
            path[span_id] = current
            current = self.at_hand.get(_parent(current))
        for span_id, one in reversed(path.items()):
            parent = _parent(one)
            if not parent:
                above = _ROOT
            elif parent in path and parent not in self.below:
                above = SpanMemory(unknown=parent)
            else:
                above = self.seen(parent, alternations + 1)
            self._add(span_id, one, above)

    def _add(self, span_id: str, item: Item, above: SpanMemory) -> None:
        kind, agent, thing = item.kind, item.agent or "", item.thing
        if isinstance(item.record, Span) and is_root_agent(item.record, kind, self._is_agentic):
            kind, agent = "agent", root_agent(item.record, item.resource)
            thing = f"agent {agent}"
        self.kinds[span_id] = kind
        self.above[span_id] = above
        self.below[span_id] = joined(SpanMemory(agent=agent, thing=thing), above)


def _parent(item: Item) -> str:
    return item.record.parent_id if isinstance(item.record, Span) else ""
