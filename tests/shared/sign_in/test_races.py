"""What parallel guesses come to: a count that holds, and a code that is used once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

from shared.runtime import Runtime
from tests.support.sign_in import new_code, other_than, redeem, row_of

T = TypeVar("T")


def at_the_same_time(actions: Sequence[Callable[[], T]]) -> list[T]:
    """What threads get that all start together."""
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
    """Whichever comes first, one outcome: signed in at most once, or dead after five."""
    for _ in range(5):
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
    issued = at_the_same_time([partial(new_code, runtime, email)] * 6)
    found = [redeem(runtime, email, code) for code in issued]
    assert sum(members is not None for members in found) == 1
