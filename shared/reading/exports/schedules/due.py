"""The time until the files of an organization have to be looked at."""

from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres.due import secs_until_due

_LOOKS = "SELECT greatest(next_look_at, lease_expires_at) FROM export_schedules"


def of_exports(session: Session, _settings: Settings) -> float | None:
    """Returns the seconds until a schedule is due; None if there is none."""
    return secs_until_due(session, _LOOKS)
