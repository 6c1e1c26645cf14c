"""Actors of the assistant; the work is in `shared.assistant`."""

from shared.assistant import due, turns
from shared.assistant.desk import Desk
from shared.assistant.limits import MAX_TURNS
from shared.foundation.queue import jobs
from shared.reading.queries.run import QueryRunner
from workers.assistant.model import ChatModel
from workers.context import once, runtime
from workers.nudged import nudged_actor, stopping


@once
def _desk() -> Desk | None:
    current = runtime()
    if current.settings.assistant_base_url is None:
        return None
    queries = QueryRunner(current, pool_size=MAX_TURNS)
    return Desk(current, ChatModel(current.settings), queries, stopping)


@nudged_actor(jobs.ANSWER_QUESTIONS, next_due=due.of_turns)
def answer_questions() -> None:
    """Answers the questions that wait."""
    desk = _desk()
    if desk is not None:
        desk.run()


@nudged_actor(jobs.TIDY_ASSISTANT)
def tidy_assistant() -> None:
    """Deletes turns that ended long ago."""
    with runtime().postgres.transaction() as session:
        turns.tidy(session)
