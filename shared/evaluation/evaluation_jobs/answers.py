"""Reads an answer of the evaluator (docs/use/evaluator.md).

Pure: bytes and status in, reading out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from shared.evaluation.evaluation_jobs.result import MAX_SUMMARY_BYTES, JobResult, cut
from shared.foundation.core.attempts import LATER, parse_retry_after
from shared.foundation.core.json_words import in_json_words

MAX_ANSWER_BYTES = 10 * 1024 * 1024

# Answers to a wrong token, of the evaluator or of a proxy before it.
NOT_ADMITTED = frozenset({401, 403})

_QUOTED_CHARACTERS = 400


@dataclass(frozen=True)
class Answer:
    """A complete HTTP answer; `body` is None if it was larger than `MAX_ANSWER_BYTES`.

    `is_outage`: the evaluator admits no request of ours, because it did not admit that for /config
    either, which names no session.
    """

    status: int
    body: bytes | None
    retry_after: str | None = None
    is_outage: bool = False


@dataclass(frozen=True)
class NoEvaluatorAnswer:
    """The call ended without a complete answer: it timed out, or the connection failed."""

    error: str
    timed_out: bool


@dataclass(frozen=True)
class Pending:
    """The evaluator is working; `job_id` is the id to poll, if the answer contained one."""

    job_id: str | None
    next_poll_secs: float | None


@dataclass(frozen=True)
class Refusal:
    """Another attempt would change nothing.

    `is_everyones`: any other request may be refused too, because of the token. `cause` is the error
    without the evaluator's own words, which may quote the session.
    """

    error: str
    cause: str = field(default="", compare=False)
    is_everyones: bool = False


@dataclass(frozen=True)
class AttemptFailure:
    """Another attempt may help, but not before `retry_after_secs` if the evaluator sent it.

    `counts`: it uses up an attempt; a call with a wrong token says nothing about the session.
    `cause` is the error without the evaluator's own words, which may quote the session.
    """

    error: str
    cause: str = field(default="", compare=False)
    timed_out: bool = False
    retry_after_secs: float | None = None
    counts: bool = True


# A `JobResult` means that the evaluator has finished.
Reading = JobResult | Pending | Refusal | AttemptFailure


class _Head(msgspec.Struct):
    """The fields that distinguish the kinds of answers."""

    status: Any = None
    job_id: Any = None


class _EvalResponse(msgspec.Struct):
    scores: dict[str, float] | UnsetType | None = UNSET
    reasoning: dict[str, str] | UnsetType | None = UNSET
    summary: str | UnsetType | None = UNSET


class _JobPending(msgspec.Struct):
    # Stored in a text column and sent back in a path, so its length and characters are limited.
    job_id: Annotated[str, Meta(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]*$")] | (
        None
    ) = None
    next_poll_secs: float | None = None


class _ErrorAnswer(msgspec.Struct):
    error: Any = None
    message: Any = None
    summary: Any = None


_Shape = TypeVar("_Shape")


class UnreadableAnswer(Exception):
    """The body is invalid; the message has the reason."""


# Reads the body of an evaluator that has finished. The flag tells whether its `status` says so.
# Raises `UnreadableAnswer`.
Finished = Callable[[bytes, bool], Reading]


def read(
    answer: Answer | NoEvaluatorAnswer, now: datetime, finished: Finished | None = None
) -> Reading:
    """Classifies an answer into one of four readings.

    A Retry-After with a date is relative to `now`. `finished` reads a final answer, by default
    scores, reasoning and summary.
    """
    if isinstance(answer, NoEvaluatorAnswer):
        return AttemptFailure(answer.error, cause=answer.error, timed_out=answer.timed_out)
    if 200 <= answer.status < 300:
        return _read_success(answer.body, finished or _scored)
    if 300 <= answer.status < 400:
        return Refusal(f"the evaluator answered {answer.status}; redirects are not followed")
    error, cause = _describe(answer), f"the evaluator answered {answer.status}"
    if answer.status in LATER or answer.status >= 500:
        wait = parse_retry_after(answer.retry_after, now)
        return AttemptFailure(error, cause=cause, retry_after_secs=wait)
    if answer.is_outage:
        return AttemptFailure(error, cause=cause, counts=False)
    return Refusal(error, cause=cause, is_everyones=answer.status == 401)


def _read_success(body: bytes | None, finished: Finished) -> Reading:
    if body is None:
        return Refusal(f"the evaluator's answer is larger than {MAX_ANSWER_BYTES} bytes")
    try:
        head = decode(body, _Head)
        return _read_by_status(body, head, finished)
    except UnreadableAnswer as error:
        return Refusal(str(error))


def _read_by_status(body: bytes, head: _Head, finished: Finished) -> Reading:
    status = head.status
    if status is None:
        status = "done" if head.job_id is None else "pending"
    if status == "pending":
        pending = decode(body, _JobPending)
        return Pending(pending.job_id, pending.next_poll_secs)
    if status == "done":
        return finished(body, head.status is not None)
    if status == "error":
        return Refusal(_reason(decode(body, _ErrorAnswer)))
    if decode(body, _EvalResponse).scores:
        # Evaluators have words of their own for "done"; valid scores say it better.
        return finished(body, True)
    raise UnreadableAnswer(
        "the evaluator's answer has no scores and a status other than done, pending and error"
    )


def _scored(body: bytes, announced: bool) -> JobResult:
    response = decode(body, _EvalResponse)
    fields = (response.scores, response.reasoning, response.summary)
    if not announced and all(field is UNSET for field in fields):
        raise UnreadableAnswer("the evaluator's answer has neither scores, reasoning nor summary")
    summary = response.summary or None
    return JobResult(
        status="done",
        scores=response.scores or None,
        reasoning=response.reasoning or None,
        summary=summary and cut(summary, MAX_SUMMARY_BYTES),
    )


def _reason(answer: _ErrorAnswer) -> str:
    for text in (answer.error, answer.message, answer.summary):
        if isinstance(text, str) and text:
            return text
    return "the evaluator answered with status error"


def decode(body: bytes, shape: type[_Shape]) -> _Shape:
    """Decodes strictly: scores are finite numbers, because JSON has no others."""
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        path, reason = in_json_words(error)
        where = path or "it"
        raise UnreadableAnswer(
            f"the evaluator's answer has another shape: {where} {reason}"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnreadableAnswer("the evaluator's answer is not JSON") from None


def _describe(answer: Answer) -> str:
    told = f"the evaluator answered {answer.status}"
    text = " ".join((answer.body or b"")[:4096].decode(errors="replace").split())
    return f"{told}: {text[:_QUOTED_CHARACTERS]}" if text else told
