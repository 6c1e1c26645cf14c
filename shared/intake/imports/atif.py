"""Documents in the Agent Trajectory Interchange Format; a step counts as a line."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Raw

from shared.foundation.core.errors import Invalid, TooLarge
from shared.intake.imports.content import shown, text_of
from shared.intake.imports.dimensions import Dimensions, dimensions_of
from shared.intake.imports.file import ImportFile
from shared.intake.imports.node import Node, compact, read_node
from shared.intake.imports.outcomes import BadLine, IgnoredLine, ImportEvent, Outcome, given
from shared.intake.ingest.envelope import EventRejected

MAX_STEPS = 100_000
# Trajectories of agents below agents below agents.
_DEEPEST = 16
_STEP_US = 1000
_Fields = dict[str, object]


def knows(node: Node) -> bool:
    """Returns whether a document is of this format."""
    return node.text("schema_version").startswith("ATIF-")


def convert(document: Node, file: ImportFile) -> Iterator[Outcome]:
    """Yields what the steps say, in order; the steps of an agent below follow its parent's.

    Raises `Invalid` if no session is named, or nothing tells when the steps happened, and
    `TooLarge` for more than `MAX_STEPS` steps.
    """
    session = document.text("session_id") or document.text("trajectory_id") or file.stem
    if not session:
        raise Invalid.field("path", "is needed, because the trajectory names no session")
    trajectories = _Trajectories(session)
    trajectories.collect(document, "", depth=0)
    yield from trajectories.outcomes(file.started_us)


class _AgentStep:
    """A step of an agent; `position` counts from 1 in its trajectory, `line` in the document."""

    __slots__ = ("line", "model", "node", "position", "us")

    def __init__(self, line: int, position: int, raw: Raw, model: str) -> None:
        """Raises `EventRejected` if the step cannot be read."""
        self.line, self.position = line, position
        self.node = read_node(compact(raw))
        self.us = self.node.time_us("timestamp")
        self.model = self.node.text("model_name") or model


class _Trajectory(NamedTuple):
    """The steps of an agent, those that can be read and the others."""

    agent: str
    parent: str
    dimensions: Dimensions
    steps: list[_AgentStep]
    others: list[BadLine]


class _Trajectories:
    """The trajectories of a document, parents before those below them."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._all: list[_Trajectory] = []
        self._lines = 0

    def collect(self, node: Node, parent: str, *, depth: int) -> None:
        """Reads a trajectory and those below it."""
        described = node.node("agent")
        name = described.text("name") or "main"
        taken = {one.agent for one in self._all}
        # Two agents of one name are two agents.
        agent = name if name not in taken else f"{name}-{len(self._all) + 1}"
        dimensions = dimensions_of(described.text("version"))
        trajectory = _Trajectory(agent, parent, dimensions, [], [])
        self._all.append(trajectory)
        model = described.text("model_name")
        for position, raw in enumerate(node.raws("steps"), 1):
            self._lines += 1
            if self._lines > MAX_STEPS:
                raise TooLarge(f"the trajectory has more than {MAX_STEPS} steps")
            try:
                trajectory.steps.append(_AgentStep(self._lines, position, raw, model))
            except EventRejected as error:
                trajectory.others.append(BadLine(self._lines, str(error)))
        for below in node.nodes("subagent_trajectories") if depth < _DEEPEST else ():
            self.collect(below, agent, depth=depth + 1)

    def outcomes(self, started_us: int | None) -> Iterator[Outcome]:
        """Yields what all steps say."""
        known = (step.us for one in self._all for step in one.steps)
        begin_us = next((us for us in known if us is not None), started_us)
        for trajectory in self._all:
            yield from trajectory.others
            if not trajectory.steps:
                continue
            if begin_us is None:
                reason = "is needed, because no step has a timestamp"
                raise Invalid(
                    f"started_at {reason}", fields={"started_at": [reason]}, code="no_time"
                )
            _give_times(trajectory.steps, begin_us)
            yield from self._said(trajectory)

    def _said(self, trajectory: _Trajectory) -> Iterator[Outcome]:
        steps = trajectory.steps
        start = given(goal=_first_words(steps, "user"), parent_id=trajectory.parent)
        yield self._event(trajectory, steps[0], "agent_start", start)
        for step in steps:
            say = _SOURCES.get(step.node.text("source"))
            if say is None or step.node.is_true("is_copied_context"):
                yield IgnoredLine(step.line)
                continue
            before: Counter[str] = Counter()
            for kind, fields in say(step):
                yield self._event(trajectory, step, kind, fields, before[kind])
                before[kind] += 1
        end = given(summary=_first_words(steps[::-1], "agent"))
        yield self._event(trajectory, steps[-1], "agent_end", end)

    def _event(
        self, of: _Trajectory, step: _AgentStep, kind: str, fields: _Fields, nth: int = 0
    ) -> ImportEvent:
        session, us, origin = self._session, step.us or 0, b"step %d" % step.position
        return ImportEvent(
            step.line, us, session, of.agent, kind, fields, origin, nth, of.dimensions
        )


def _give_times(steps: list[_AgentStep], begin_us: int) -> None:
    """Gives each step without a time the one a millisecond after the step before it.

    Those at the beginning end a millisecond before the first known time.
    """
    for before, step in enumerate(steps):
        if step.us is not None:
            begin_us = step.us - before * _STEP_US
            break
    us = begin_us - _STEP_US
    for step in steps:
        us = step.us = us + _STEP_US if step.us is None else step.us


def _first_words(steps: list[_AgentStep], source: str) -> str:
    """Returns the first text of this source."""
    said = (text_of(one.node, "message") for one in steps if one.node.text("source") == source)
    return next(filter(None, said), "")


def _person(step: _AgentStep) -> Iterator[tuple[str, _Fields]]:
    yield "human_input", given(response=text_of(step.node, "message"))


def _agent(step: _AgentStep) -> Iterator[tuple[str, _Fields]]:
    """Yields the response of the model, its calls of tools, and their results."""
    node = step.node
    calls = {call.text("tool_call_id"): call for call in node.nodes("tool_calls")}
    yield "model_response", _response(step, list(calls.values()))
    for name, call in calls.items():
        yield (
            "tool_use",
            given(
                tool_name=call.text("function_name"),
                tool_call_id=name,
                input=call.value("arguments"),
            ),
        )
    for result in node.node("observation").nodes("results"):
        name = result.text("source_call_id") or (next(iter(calls)) if len(calls) == 1 else "")
        tool = calls[name].text("function_name") if name in calls else ""
        output = shown(result, "content")
        yield "tool_result", given(tool_name=tool, tool_call_id=name, output=output)


def _response(step: _AgentStep, calls: list[Node]) -> _Fields:
    metrics = step.node.node("metrics")
    return given(
        model=step.model,
        role="assistant",
        content=shown(step.node, "message"),
        reasoning=step.node.text("reasoning_content"),
        tool_calls=[
            given(
                id=call.text("tool_call_id"),
                name=call.text("function_name"),
                arguments=call.value("arguments"),
            )
            for call in calls
        ]
        or None,
        input_tokens=metrics.number("prompt_tokens"),
        output_tokens=metrics.number("completion_tokens"),
        cache_read_tokens=metrics.number("cached_tokens"),
        cost_usd=metrics.amount("cost_usd"),
        request_id=f"step-{step.node.number('step_id') or step.position}",
    )


# The sources of steps. Those of others, such as `system`, are ignored.
_SOURCES: dict[str, Callable[[_AgentStep], Iterator[tuple[str, _Fields]]]] = {
    "user": _person,
    "agent": _agent,
}
