"""The lock that writers of an organization's findings take."""

import uuid

from sqlalchemy.orm import Session

from shared.foundation.postgres import lock_until_commit


def lock_findings(session: Session, org_id: uuid.UUID) -> None:
    """Waits for the other writers of the organization's findings; holds until the transaction ends.

    Runs of several audits, people, and resolved incidents write the same rows, since a fingerprint
    links findings of several audits. A writer that also locks an incident takes this lock first.
    """
    lock_until_commit(session, f"findings of {org_id}")
