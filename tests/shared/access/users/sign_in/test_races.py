"""Parallel guesses: an exact count, and a code that is used once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar
from uuid import UUID

import pytest
from sqlalchemy import select, text

from shared.access import users
from shared.access.users import memberships_of
from shared.access.users.sign_in import codes, service
from shared.access.users.sign_in.models import SignInSession
from shared.access.users.sign_in.sessions import open_session
from shared.foundation.cache import at_once
from shared.foundation.core.errors import Unauthorized
from shared.foundation.deployment.runtime import Runtime
from tests.support.processes import wait_until
from tests.support.runtime import Org
from tests.support.sign_in import new_code, other_than, redeem, row_of

T = TypeVar("T")


def at_the_same_time(actions: Sequence[Callable[[], T]]) -> list[T]:
    """Returns the results of threads that all start together."""
    barrier = Barrier(len(actions))

    def one(action: Callable[[], T]) -> T:
        barrier.wait(30)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(one, actions))


def test_of_twenty_guesses_at_a_time_five_count(runtime: Runtime, email: str) -> None:
    code = new_code(runtime, email)
    wrong = [guess for number in range(30) if (guess := f"{number:06}") != code]
    found = at_the_same_time([partial(redeem, runtime, email, guess) for guess in wrong[:20]])
    assert found == [None] * 20
    row = row_of(runtime, email)
    assert row is not None
    assert row.wrong_tries == 5
    assert redeem(runtime, email, code) is None


def test_among_parallel_guesses_the_right_one_counts_only_while_tries_are_left(
    runtime: Runtime, email: str
) -> None:
    """Whichever comes first, there is one outcome: signed in at most once, or dead after five."""
    for _ in range(4):
        code = new_code(runtime, email)
        guesses = [code] + [other_than(code)] * 9
        found = at_the_same_time([partial(redeem, runtime, email, guess) for guess in guesses])
        assert found[1:] == [None] * 9
        row = row_of(runtime, email)
        assert (row is None) == (found[0] is not None)
        assert row is None or row.wrong_tries == 5


def test_of_two_who_redeem_a_code_one_wins(runtime: Runtime, email: str) -> None:
    for _ in range(5):
        code = new_code(runtime, email)
        found = at_the_same_time([partial(redeem, runtime, email, code)] * 4)
        assert sum(members is not None for members in found) == 1


def test_of_codes_issued_at_a_time_one_lives(runtime: Runtime, email: str) -> None:
    issued = at_the_same_time([partial(new_code, runtime, email)] * 4)
    found = [redeem(runtime, email, code) for code in issued]
    assert sum(members is not None for members in found) == 1


def test_a_member_cannot_sign_in_while_being_disabled(
    runtime: Runtime, org: Org, email: str
) -> None:
    """Otherwise a session created in that moment would work again after the member is enabled."""
    code = new_code(runtime, email)
    with ThreadPoolExecutor(1) as pool:
        with at_once(runtime.postgres, runtime.redis) as session:
            [member] = memberships_of(session, email=email)
            users.disable(session, org.uuid, str(member.user_id))
            entering = pool.submit(service.sign_in, runtime, email, code)
            wait_until(lambda: entering.done() or waits_for_a_lock(runtime))
        with pytest.raises(Unauthorized):
            entering.result(30)


def test_a_session_from_just_before_is_ended(runtime: Runtime, org: Org, email: str) -> None:
    code = new_code(runtime, email)

    def disable(user_id: UUID) -> None:
        with at_once(runtime.postgres, runtime.redis) as session:
            users.disable(session, org.uuid, str(user_id))

    with ThreadPoolExecutor(1) as pool:
        with runtime.postgres.transaction() as session:
            members = codes.redeem(session, runtime.settings, runtime.queue, email, code)
            assert members is not None
            disabling = pool.submit(disable, members[0].user_id)
            wait_until(lambda: disabling.done() or waits_for_a_lock(runtime))
            open_session(session, runtime.settings, members)
        disabling.result(30)
    with runtime.postgres.transaction() as session:
        left = select(SignInSession).where(SignInSession.user_id == members[0].user_id)
        assert session.scalars(left).all() == []


def waits_for_a_lock(runtime: Runtime) -> bool:
    """Returns whether some transaction waits for another one's row."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with runtime.postgres.transaction() as session:
        return bool(session.scalar(text(query)))
