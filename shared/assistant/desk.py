"""Takes turns that wait, and ends each with one last frame."""

import threading
import time

from shared.access.users import memberships_of
from shared.assistant import turns
from shared.assistant.asker import Asker
from shared.assistant.frames import Frames
from shared.assistant.limits import LEASE_SECS
from shared.assistant.loop import Stopped, Turn
from shared.assistant.model import Model, ModelFailed, Usage
from shared.assistant.models import AssistantTurn
from shared.assistant.request import read_request
from shared.assistant.turns import ClaimedTurn
from shared.foundation.core.errors import Unavailable, WatchpostError
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import ANSWER_QUESTIONS
from shared.foundation.queue.leased_step import work
from shared.reading.queries.run import QueryRunner

log = get_logger(__name__)

_WORKER_GONE = "The worker that answered stopped. Ask again."
_NEVER_BEGUN = "No worker of the assistant took the question in time. Ask again."
_ENDED_HERE = "The assistant is being restarted. Ask again."
# The client's note is read this often.
_WATCH_SECS = 1.0


class Desk:
    """The assistant's worker: one turn at a time in each of its threads."""

    def __init__(
        self, runtime: Runtime, model: Model, queries: QueryRunner, stopping: threading.Event
    ) -> None:
        self._runtime = runtime
        self._model = model
        self._queries = queries
        self._stopping = stopping

    def run(self) -> None:
        """Answers until no question waits. Raises `Unavailable` while PostgreSQL is down."""
        work(self._runtime, ANSWER_QUESTIONS, turns.claim, self._answer, self._stopping, LEASE_SECS)

    def _answer(self, claimed_turn: ClaimedTurn) -> None:
        row = claimed_turn.row
        frames = Frames(self._runtime.redis, row.id)
        if claimed_turn.is_lost:
            self._give_up(claimed_turn, frames)
            return
        turn = self._made(claimed_turn, frames, claimed_turn.lost)
        if turn is None:
            self._end(claimed_turn, None, frames, "failed", "You may not use the assistant.")
            return
        state, failure = self._outcome(turn)
        self._end(claimed_turn, turn, frames, state, failure)

    def _outcome(self, turn: Turn) -> tuple[str, str | None]:
        """Runs a turn; returns its state, and a sentence if it failed."""
        try:
            turn.run()
        except ModelFailed as error:
            return "failed", str(error)
        except Stopped:
            return "cancelled", _ENDED_HERE if self._stopping.is_set() else "Cancelled."
        except Unavailable as error:
            return "failed", f"{error.message}. Ask again."
        except WatchpostError as error:
            return "failed", error.message
        except Exception:
            log.exception("assistant_turn_crashed", org_id=turn.asker.org)
            return "failed", "The assistant failed. Ask again."
        return "done", None

    def _made(
        self, claimed_turn: ClaimedTurn, frames: Frames, lost: threading.Event
    ) -> Turn | None:
        """Returns the turn; None if the person lost access before it began."""
        row = claimed_turn.row
        asker = self._asker(row)
        if asker is None or row.request is None:
            return None
        watch = _Watch(frames)
        return Turn(
            asker,
            lambda: self._renewed(row),
            self._model,
            row.model,
            read_request(row.request),
            frames,
            lambda: self._stopping.is_set() or lost.is_set() or watch.is_unwatched(),
        )

    def _renewed(self, row: AssistantTurn) -> Asker:
        asker = self._asker(row)
        if asker is None:
            raise Stopped
        return asker

    def _asker(self, row: AssistantTurn) -> Asker | None:
        """Returns the person with the permissions of now; None without access."""
        with self._runtime.postgres.transaction() as session:
            memberships = memberships_of(session, user_id=row.user_id)
        member = next((one for one in memberships if one.org_id == row.org_id), None)
        if member is None or "agent:use" not in member.permissions:
            return None
        return Asker(
            self._runtime,
            self._queries,
            row.org_id,
            member.org_slug,
            member.permissions,
            member.email,
        )

    def _give_up(self, claimed_turn: ClaimedTurn, frames: Frames) -> None:
        """Ends a turn that is lost. Its worker may have died after the last frame."""
        reason = _WORKER_GONE if claimed_turn.had_worker else _NEVER_BEGUN
        with self._runtime.postgres.transaction() as session:
            if turns.end(session, claimed_turn, "failed") and not frames.has_ended():
                frames.write("error", message=reason)

    def _end(
        self,
        claimed_turn: ClaimedTurn,
        turn: Turn | None,
        frames: Frames,
        state: str,
        failure: str | None,
    ) -> None:
        used = Usage() if turn is None else turn.usage
        usage = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "tool_calls": 0 if turn is None else turn.tool_calls,
        }
        # The last frame goes out before the commit: if this worker dies in between, another one
        # sees the frame and only ends the turn.
        with self._runtime.postgres.transaction() as session:
            if not turns.end(session, claimed_turn, state, **usage):
                return
            if failure is None:
                frames.write("done", usage=usage)
            else:
                frames.write("error", message=failure)
        row = claimed_turn.row
        log.info(
            "assistant_turn",
            who=str(row.user_id) if turn is None else turn.asker.name,
            org_id=str(row.org_id),
            turn_id=str(row.id),
            model=row.model,
            outcome=state,
            duration_ms=round((time.monotonic() - claimed_turn.claimed_at) * 1000),
            **usage,
        )


class _Watch:
    """Looks now and then whether a client still reads the frames."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._looked = time.monotonic()
        self._unwatched = False

    def is_unwatched(self) -> bool:
        """Returns whether no client has read for a while, at most `_WATCH_SECS` late."""
        if time.monotonic() - self._looked > _WATCH_SECS:
            self._looked = time.monotonic()
            self._unwatched = not self._frames.is_watched()
        return self._unwatched
