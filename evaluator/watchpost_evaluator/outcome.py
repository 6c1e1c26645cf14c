"""Runs an evaluator on a session, within its time, and says what became of it."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.session import Session
from watchpost_evaluator.values import Skip, Value, clean, cut, values_of

ERROR_BYTES = 2048
# The time that `async def` may need to end after it was cancelled.
_GRACE_SECS = 1.0

_late: set[threading.Thread] = set()
_lock = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """The end of a run. `status`: done, skipped, error or timeout.

    `reason` is that of a skip, and `error` says what went wrong.
    """

    evaluator: Evaluator
    status: str
    results: Mapping[str, Value] = field(default_factory=dict)
    summary: str | None = None
    reason: str | None = None
    error: str | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    duration_ms: int = 0

    @property
    def value(self) -> Any:
        """Returns the value of the evaluator's own key, None without one."""
        own = self.results.get(self.evaluator.key)
        return None if own is None else own.value

    @property
    def passed(self) -> bool | None:
        """Returns whether the value of the evaluator's own key is good enough."""
        own = self.results.get(self.evaluator.key)
        return None if own is None else own.passed

    def to_json(self) -> dict[str, Any]:
        """Returns it as a JSON object, without what is empty."""
        told = {
            "evaluator": self.evaluator.key,
            "version": self.evaluator.version,
            "status": self.status,
            "results": [wire(key, value) for key, value in self.results.items()],
            "summary": self.summary,
            "reason": self.reason,
            "error": self.error,
            "duration_ms": self.duration_ms,
        }
        return {name: value for name, value in told.items() if value is not None}


def wire(key: str, value: Value) -> dict[str, Any]:
    """Returns a value as the push contract has it, without what is empty."""
    told = {
        "key": key,
        "kind": value.kind,
        "value": value.value,
        "passed": value.passed,
        "unit": getattr(value, "unit", None) or None,
        "reasoning": value.reasoning,
        "evidence": list(value.evidence) or None,
        "labels": list(value.labels) or None,
    }
    return {name: one for name, one in told.items() if one is not None}


def run(evaluator: Evaluator, session: Session, *, quiet: bool = False) -> Outcome:
    """Runs the evaluator and returns what became of it; nothing that it does raises.

    A traceback goes to standard error, unless `quiet`. A function that is no `async def` cannot be
    ended: after its time it goes on in its thread, which `late_runs` counts.
    """
    began, started_at = time.monotonic(), datetime.now(timezone.utc)
    box: list[Any] = []
    call = threading.Thread(
        target=_call, args=(evaluator, session, box, quiet), name=evaluator.name, daemon=True
    )
    call.start()
    call.join(evaluator.timeout + _GRACE_SECS * inspect.iscoroutinefunction(evaluator.function))
    if not box:
        with _lock:
            _late.add(call)
        box.append(TimeoutError())
    duration_ms = round((time.monotonic() - began) * 1000)
    return _judge(evaluator, box[0], started_at, duration_ms)


def late_runs() -> int:
    """Returns how many functions still run after their time."""
    with _lock:
        _late.difference_update([thread for thread in _late if not thread.is_alive()])
        return len(_late)


def _judge(evaluator: Evaluator, returned: Any, started_at: datetime, duration_ms: int) -> Outcome:
    def ended(status: str, **fields: Any) -> Outcome:
        return Outcome(evaluator, status, started_at=started_at, duration_ms=duration_ms, **fields)

    if isinstance(returned, TimeoutError):
        return ended("timeout", error=f"it took more than {evaluator.timeout:g} s")
    if isinstance(returned, BaseException):
        return ended("error", error=described(returned))
    if isinstance(returned, Skip):
        return ended("skipped", reason=returned.reason)
    try:
        results, summary = values_of(evaluator.key, evaluator.result, returned)
    except (TypeError, ValueError) as error:
        return ended("error", error=described(error))
    return ended("done", results=results, summary=summary)


def described(error: BaseException) -> str:
    """Returns an error in one text that Watchpost stores."""
    return cut(clean(f"{type(error).__name__}: {error}".rstrip(": ")), ERROR_BYTES)


class _OutOfTimeError(Exception):
    """The coroutine did not end in time."""


def _call(evaluator: Evaluator, session: Session, box: list[Any], quiet: bool) -> None:
    """Puts what the function returns or raises into the box."""
    try:
        returned = evaluator(session)
        if inspect.isawaitable(returned):
            returned = asyncio.run(_within(returned, evaluator.timeout))
        box.append(returned)
    except _OutOfTimeError:
        box.append(TimeoutError())
    except BaseException as error:  # noqa: BLE001 whatever it raises is the outcome
        if not quiet:
            sys.stderr.write(f"{evaluator.name} on {session.id}:\n{traceback.format_exc()}")
        # A TimeoutError of its own, as of a request, is an error like any other.
        own = RuntimeError(described(error)) if isinstance(error, TimeoutError) else error
        box.append(own)


async def _within(coroutine: Awaitable[Any], timeout: float) -> Any:
    task = asyncio.ensure_future(coroutine)
    done, _ = await asyncio.wait({task}, timeout=timeout)
    if not done:
        raise _OutOfTimeError
    return task.result()
