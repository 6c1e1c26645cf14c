"""The actor of sign-in; the work is in `shared.users.sign_in`."""

from shared.users.sign_in import service
from shared.users.sign_in.jobs import TIDY_SIGN_IN
from workers.context import runtime
from workers.nudged import nudged_actor


@nudged_actor(TIDY_SIGN_IN)
def tidy_sign_in() -> None:
    """Deletes expired codes and sessions."""
    with runtime().postgres.transaction() as session:
        service.tidy(session)
