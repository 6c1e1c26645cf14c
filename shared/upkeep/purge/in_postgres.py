"""The purge of an organization in PostgreSQL: the rows of all tables with a column `org_id`.

The database lists the tables, so that those of later releases are covered too.
"""

import uuid
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, delete, inspect, text
from sqlalchemy.orm import Session

from shared.access.mail.models import Mail
from shared.access.users import Membership
from shared.access.users.accounts import remove_unused
from shared.access.users.sign_in.models import SignInCode, SignInGuesses
from shared.foundation.postgres import Postgres

# Rows per transaction: few enough to keep every statement far below its limit of 30 s.
_BATCH_ROWS = 5000

_MEMBERSHIPS = Membership.__tablename__


def remove(postgres: Postgres, org_id: uuid.UUID) -> Counter[str]:
    """Removes everything but the organization, in many transactions; counts the rows by table.

    An account is removed with its last membership. Raises `Unavailable` if PostgreSQL is down.
    """
    with postgres.transaction() as session:
        tables = _tables(session.connection())
    removed = Counter(dict.fromkeys(tables, 0))
    for table in tables:
        rows = _BATCH_ROWS
        while rows == _BATCH_ROWS:
            with postgres.transaction() as session:
                found = _remove_from(session, table, org_id, limit=_BATCH_ROWS)
            removed.update(found)
            rows = found[table]
    return removed


def remove_rest(session: Session, org_id: uuid.UUID) -> Counter[str]:
    """Removes rows that came since, with the organization locked; counts them by table."""
    removed: Counter[str] = Counter()
    for table in _tables(session.connection()):
        removed.update(_remove_from(session, table, org_id, limit=None))
    return removed


def _tables(connection: Connection) -> list[str]:
    """Lists the tables with a column `org_id`, each before those it refers to, memberships last.

    An account is removed with its last membership, and rows that refer to it would not be counted.
    """
    found = inspect(connection)
    tables = [
        name
        for name, _ in reversed(found.get_sorted_table_and_fkc_names())
        if name and any(column["name"] == "org_id" for column in found.get_columns(name))
    ]
    return sorted(tables, key=_MEMBERSHIPS.__eq__)


def _remove_from(
    session: Session, table: str, org_id: uuid.UUID, *, limit: int | None
) -> Counter[str]:
    quoted = session.connection().dialect.identifier_preparer.quote(table)
    # Selects rows by `ctid`, because DELETE has no LIMIT; it is valid within the statement.
    statement = text(
        f"DELETE FROM {quoted} WHERE ctid = ANY(ARRAY("
        f"SELECT ctid FROM {quoted} WHERE org_id = :org_id LIMIT :limit FOR UPDATE"
        f")) RETURNING {'user_id' if table == _MEMBERSHIPS else 'NULL'}"
    )
    rows = session.scalars(statement, {"org_id": org_id, "limit": limit}).all()
    removed = Counter({table: len(rows)})
    if table == _MEMBERSHIPS:
        removed.update(_remove_accounts(session, rows))
    return removed


def _remove_accounts(session: Session, user_ids: Sequence[uuid.UUID]) -> Counter[str]:
    """Removes the accounts in the transaction of their memberships, as long as both are known."""
    emails = remove_unused(session, user_ids)
    removed = Counter({"users": len(emails)})
    for name, of_accounts in (
        ("sign_in_codes", delete(SignInCode).where(SignInCode.email.in_(emails))),
        ("sign_in_guesses", delete(SignInGuesses).where(SignInGuesses.email.in_(emails))),
        ("mails", delete(Mail).where(Mail.recipient.in_(emails), Mail.org_id.is_(None))),
    ):
        found = session.execute(of_accounts.returning(text("1"))).all()
        removed[name] += len(found)
    return removed
