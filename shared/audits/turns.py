"""Who writes findings of an organization takes turns."""

import uuid

from sqlalchemy.orm import Session

from shared.postgres import in_turn


def take_turn(session: Session, org_id: uuid.UUID) -> None:
    """Waits until nobody else writes findings of the organization, until the transaction ends.

    Runs of several audits, people, and incidents that are resolved write the same rows, of which a
    fingerprint links several. Who also writes an incident takes the turn before locking it.
    """
    in_turn(session, f"findings of {org_id}")
