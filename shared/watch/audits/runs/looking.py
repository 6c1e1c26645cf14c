"""Runs the signals of an audit over its window, one after the other."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clickhouse_driver.errors import ErrorCodes, ServerException

from shared.foundation.clickhouse.settings import PAGE
from shared.foundation.core.errors import Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger
from shared.watch.audits.signals.interface import Candidate, Find, Look

log = get_logger(__name__)

# No person waits for this, and counting a quarter of a year takes longer than a page.
_COUNTING = {**PAGE, "max_execution_time": 60}

_TOTALS = "SELECT uniqExact(session_id), count() FROM events FINAL WHERE {where}"


@dataclass(frozen=True)
class RunFindings:
    """The result of the signals; `stats` is JSON and becomes the `stats` of the run."""

    candidates: Sequence[Candidate]
    total_sessions: int
    stats: Mapping[str, Any]
    failed: Mapping[str, str]

    @property
    def is_blind(self) -> bool:
        """Whether every signal failed, so that nothing is known about the window."""
        return bool(self.failed) and not self.stats["signals"]


def run_signals(
    look: Look, signals: Mapping[str, Find], require_leave: Callable[[], None]
) -> RunFindings:
    """Counts the window and runs the signals in order; keeps only candidates in memory.

    A signal that fails, or that takes too much time or memory, is logged and reported, and the
    others continue. `require_leave` is called before each and raises if the run must stop. Raises
    `Unavailable` if ClickHouse is down.
    """
    sessions, events = _totals(look)
    counted = replace(look, total_sessions=sessions)
    candidates: list[Candidate] = []
    ran: dict[str, dict[str, int]] = {}
    failed: dict[str, str] = {}
    for name, find in signals.items():
        require_leave()
        began = time.monotonic()
        found = _found(name, find, counted)
        if isinstance(found, str):
            failed[name] = found
            continue
        candidates += found
        elapsed_ms = round((time.monotonic() - began) * 1000)
        ran[name] = {"candidates": len(found), "elapsed_ms": elapsed_ms}
    stats = {"total_sessions": sessions, "events": events, "signals": ran, "failed_signals": failed}
    return RunFindings(candidates, sessions, stats, failed)


def _found(name: str, find: Find, look: Look) -> Sequence[Candidate] | str:
    """Returns the candidates of a signal, or a sentence with the reason why it failed."""
    try:
        return find(look)
    except Unavailable as error:
        if not _ran_out_of_memory(error):
            raise
        reason = "it needs more memory than ClickHouse has"
    except WatchpostError as error:
        reason = error.message
    except Exception:
        # A defect of one signal, or an event that it does not expect, costs only its findings.
        log.exception("audit_signal_failed", signal=name)
        return "it ended with an unexpected error"
    log.warning("audit_signal_failed", signal=name, reason=reason)
    return reason


def _ran_out_of_memory(error: Unavailable) -> bool:
    """Returns whether another attempt would most likely end the same way."""
    cause = error.__cause__
    return isinstance(cause, ServerException) and cause.code == ErrorCodes.MEMORY_LIMIT_EXCEEDED


def _totals(look: Look) -> tuple[int, int]:
    where = look.where()
    sql = _TOTALS.format(where=where)
    [(sessions, events)] = look.clickhouse.rows(sql, where.params, settings=_COUNTING)
    return sessions, events
