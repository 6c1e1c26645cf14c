"""An account becomes a member while another transaction removes unused accounts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from uuid import UUID

from sqlalchemy import select

from shared.access.users import User, memberships_of
from shared.access.users.accounts import join, remove_unused
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import new_email
from tests.support.runtime import Org


def account(runtime: Runtime) -> tuple[UUID, str]:
    """An account without memberships."""
    email = new_email()
    with runtime.postgres.transaction() as session:
        user = User(email=email)
        session.add(user)
        session.flush()
        return user.id, email


def remove(runtime: Runtime, user_id: UUID) -> list[str]:
    with runtime.postgres.transaction() as session:
        return remove_unused(session, [user_id])


@contextmanager
def joining(runtime: Runtime, org: Org, email: str) -> Iterator[None]:
    """Makes an account a member in a transaction that stays open until the end of the block."""
    joined, leave = Event(), Event()

    def run() -> None:
        with runtime.postgres.transaction() as session:
            join(session, org.uuid, email)
            joined.set()
            assert leave.wait(30)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert joined.wait(30)
        try:
            yield
        finally:
            leave.set()
        running.result()


def test_an_account_that_is_being_made_a_member_stays(runtime: Runtime, org: Org) -> None:
    user_id, email = account(runtime)
    with joining(runtime, org, email):
        assert remove(runtime, user_id) == []
    assert remove(runtime, user_id) == []
    with runtime.postgres.transaction() as session:
        assert [member.org_id for member in memberships_of(session, email=email)] == [org.uuid]


def test_an_account_that_is_being_removed_is_created_again(runtime: Runtime, org: Org) -> None:
    user_id, email = account(runtime)
    with ThreadPoolExecutor(1) as pool:

        def invite() -> UUID:
            with runtime.postgres.transaction() as session:
                made = join(session, org.uuid, email)
                assert made is not None
                return made.user_id

        with runtime.postgres.transaction() as session:
            assert remove_unused(session, [user_id]) == [email]
            invited = pool.submit(invite)
        assert invited.result() != user_id
    with runtime.postgres.transaction() as session:
        assert session.scalars(select(User.id).where(User.email == email)).one() != user_id


def test_a_member_is_not_made_one_again(runtime: Runtime, org: Org) -> None:
    email = new_email()
    for outcome in (False, True):
        with runtime.postgres.transaction() as session:
            assert (join(session, org.uuid, email) is None) is outcome
