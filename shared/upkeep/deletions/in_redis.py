"""Deletions in Redis: dead letters, and bad lines that mention what is deleted."""

from collections import Counter
from collections.abc import Collection

import redis

from shared.foundation.queue import unavailable_when_redis_is_gone
from shared.intake.ingest import dead_letters
from shared.intake.ingest.dead_letters import DeadLetter
from shared.intake.receipts import skipped
from shared.upkeep.deletions.mentions import Mentions
from shared.upkeep.deletions.target import NamedPerson


def clean(
    client: redis.Redis,
    org_id: str,
    session_ids: Collection[str],
    person: NamedPerson | None,
    mentions: Mentions,
    *,
    remove: bool = True,
) -> Counter[str]:
    """Removes them, or only counts them; counts by kind. Raises `Unavailable` if Redis is down."""
    wanted = frozenset(session_ids)
    with unavailable_when_redis_is_gone():
        letters = [
            letter
            for letter in dead_letters.letters(client)
            if letter.org_id == org_id and _is_about(letter, wanted, person, mentions)
        ]
        if remove:
            for letter in letters:
                dead_letters.drop(client, letter)
        lines = skipped.forget(client, org_id, mentions.in_text, remove=remove)
    return Counter({"dead_letters": len(letters), "bad_lines": lines})


def _is_about(
    letter: DeadLetter,
    session_ids: frozenset[str],
    person: NamedPerson | None,
    mentions: Mentions,
) -> bool:
    batch = letter.batch
    if batch is None:
        return mentions.in_text(letter.data.decode(errors="replace"))
    return any(
        session_id in session_ids
        or (person is not None and person.is_named_in(event_type, payload))
        for session_id, event_type, payload in zip(
            batch.session_ids, batch.event_types, batch.payloads, strict=True
        )
    )
