"""The time until a queue in PostgreSQL has work again."""

from sqlalchemy import text
from sqlalchemy.orm import Session

# Work that has been due for longer than this could not be taken: every place is taken, or its row
# is locked. It is looked for again after this time. Other work came due while a worker looked.
AGAIN_SECS = 1.0

_LEFT = """
SELECT extract(epoch FROM min(
    CASE WHEN due_at > statement_timestamp() THEN due_at
    WHEN due_at > statement_timestamp() - make_interval(secs => :again) THEN statement_timestamp()
    ELSE statement_timestamp() + make_interval(secs => :again) END
) - statement_timestamp())
FROM ({moments}) AS work (due_at)
WHERE due_at IS NOT NULL
"""


def secs_until_due(session: Session, moments: str, **params: object) -> float | None:
    """Returns the seconds until a worker should look again; None if no work waits.

    `moments` is a statement that selects the times at which work is due.
    """
    statement = text(_LEFT.format(moments=moments))
    left = session.execute(statement, {**params, "again": AGAIN_SECS}).scalar_one()
    return None if left is None else float(left)
