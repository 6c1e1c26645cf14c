"""The actor of sign-in; what it does is `shared.users.sign_in`'s."""

from shared.users.sign_in import service
from shared.users.sign_in.jobs import TIDY_SIGN_IN
from workers.context import runtime
from workers.nudged import nudged_actor


@nudged_actor(TIDY_SIGN_IN)
def tidy_sign_in() -> None:
    """Deletes codes and sessions that are over."""
    with runtime().postgres.transaction() as session:
        service.tidy(session)
