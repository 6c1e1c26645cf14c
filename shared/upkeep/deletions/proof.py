"""The statements that show that nothing is left, for `POST /v1/queries/run`.

They compare hashes, so a report repeats neither session ids nor a person's identifier.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.reading.sessions.deleted import DeletedSession, hashing_of
from shared.upkeep.deletions import in_clickhouse
from shared.upkeep.deletions.models import Deletion
from shared.upkeep.deletions.target import naming_sql

# More statements than this are for nobody to run; the first ones are samples then.
_MAX_STATEMENTS = 20

NOT_REACHED = (
    "backups and downloads",
    "files of scheduled exports that are off; while they are on, files are written again at once",
    "files of ClickHouse's replaced parts, until state is done",
    "logs of processes and servers, which name requests and counts but no payloads",
    "the session of a trace of OpenTelemetry, which Redis keeps for 24 hours after its last use",
    "evaluators, receivers of webhooks, mailboxes and language models that got data before",
    "texts that quote an event without naming its session or the identifier",
    "configuration and lines of the audit log that mention it, which `remaining` counts",
)


class Proof(NamedTuple):
    """A statement whose result is 0 rows."""

    title: str
    sql: str


def proofs_of(session: Session, deletion: Deletion) -> list[Proof]:
    """Returns the statements that count what is left."""
    hashing = hashing_of(session, deletion.org_id)
    proofs = []
    if deletion.value_hash is not None:
        condition = naming_sql(hashing, deletion.field, deletion.value_hash)
        title = "events of this user"
        if deletion.field is not None:
            title = f"events whose {deletion.field} has this value"
        proofs.append(Proof(title, f"SELECT count() AS rows FROM events WHERE {condition}"))
    hashes = _hashes(session, deletion)
    pieces = in_clickhouse.pieces(hashes, in_clickhouse.SESSIONS_A_PROOF)
    for piece in islice(pieces, _MAX_STATEMENTS):
        condition = in_clickhouse.of_sessions(hashing, piece)
        proofs += [
            Proof(
                f"{table} of the deleted sessions",
                f"SELECT count() AS rows FROM {table} WHERE {condition}",
            )
            for table in ("events", "evaluations", "results")
        ]
    return proofs


def dropped(session: Session, deletion: Deletion) -> int:
    """Returns the number of events that arrived for the deleted sessions afterwards."""
    query = select(func.coalesce(func.sum(DeletedSession.dropped), 0)).where(*_of(deletion))
    return int(session.execute(query).scalar_one())


def _hashes(session: Session, deletion: Deletion) -> Sequence[str]:
    query = select(DeletedSession.session_hash).where(*_of(deletion))
    return [found.hex() for found in session.scalars(query.order_by(DeletedSession.session_hash))]


def _of(deletion: Deletion):  # type: ignore[no-untyped-def] # two conditions
    return (
        DeletedSession.org_id == deletion.org_id,
        DeletedSession.deletion_id == deletion.id,
    )
