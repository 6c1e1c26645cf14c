"""Reads the answer to a run: its values become results by what the version declares."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from shared.evaluation.evaluation_jobs import answers
from shared.evaluation.evaluation_jobs.answers import (
    Answer,
    NoEvaluatorAnswer,
    Reading,
    Refusal,
    UnreadableAnswer,
)
from shared.evaluation.evaluation_jobs.result import MAX_SUMMARY_BYTES, JobResult, cut
from shared.evaluation.evaluators import declarations, results
from shared.evaluation.evaluators.results import ResultValue, UnfitResultError
from shared.evaluation.runs.definitions import RunDefinition
from shared.foundation.core.text import storable

_Tokens = Annotated[int, Meta(ge=0, le=10**12)]


class _Usage(msgspec.Struct):
    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    cost_usd: Annotated[float, Meta(ge=0, le=1e9)] | None = None


class _RunAnswer(msgspec.Struct):
    scores: dict[str, Any] | UnsetType | None = UNSET
    reasoning: dict[str, str] | UnsetType | None = UNSET
    summary: str | UnsetType | None = UNSET
    results: list[ResultValue] | UnsetType | None = UNSET
    usage: _Usage | None = None


def read(definition: RunDefinition, answer: Answer | NoEvaluatorAnswer, now: datetime) -> Reading:
    """Classifies an answer, which may have `results` and `usage` too."""
    return answers.read(
        answer, now, lambda body, announced: _finished(definition, body, is_announced=announced)
    )


def _finished(definition: RunDefinition, body: bytes, *, is_announced: bool) -> Reading:
    given = answers.decode(body, _RunAnswer)
    fields = (given.scores, given.reasoning, given.summary, given.results)
    if not is_announced and all(one is UNSET for one in fields):
        raise UnreadableAnswer(
            "the evaluator's answer has neither results, scores, reasoning nor summary"
        )
    reasoning = given.reasoning or {}
    named = given.results or []
    taken = {one.key for one in named}
    scores = {key: value for key, value in (given.scores or {}).items() if key not in taken}
    declared = declarations.stored(definition.results)
    values = [*named, *results.of_scores(declared, scores, reasoning)]
    rest = {key: text for key, text in reasoning.items() if key not in scores}
    usage = given.usage or _Usage()
    return finished(
        definition,
        values,
        reasoning=rest,
        summary=given.summary or None,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
    )


def finished(
    definition: RunDefinition,
    values: Sequence[ResultValue],
    *,
    reasoning: dict[str, str] | None = None,
    summary: str | None = None,
    **fields: Any,
) -> Reading:
    """Returns the end of a run with these values; `fields` are others of the result.

    A value that is outside of its kind ends the run as an error, and none of them is kept.
    """
    try:
        found = results.check(declarations.stored(definition.results), values)
    except UnfitResultError as error:
        return Refusal(str(error))
    return JobResult(
        status="done",
        scores=results.scores_of(found) or None,
        reasoning={**(reasoning or {}), **results.reasoning_of(found)} or None,
        summary=summary and cut(storable(summary), MAX_SUMMARY_BYTES),
        results=found,
        **fields,
    )
