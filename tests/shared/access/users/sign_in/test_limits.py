"""Limits: exact in one window, shared by all processes, and safe from exhaustion by others."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.access.users.sign_in.limits import SignInLimits
from shared.foundation.core.errors import RateLimited, Unavailable
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import connect_redis
from tests.support.people import new_email
from tests.support.sign_in import new_address


@pytest.fixture
def processes(redis_url: str) -> Iterator[list[SignInLimits]]:
    """The limits of two processes on one Redis."""
    clients = [connect_redis(redis_url) for _ in range(2)]
    yield [SignInLimits(client) for client in clients]
    for client in clients:
        client.close()


@pytest.fixture
def limits(processes: list[SignInLimits]) -> SignInLimits:
    """The limits of one of them."""
    return processes[0]


def passes(count: Callable[..., None], *who: str) -> bool:
    """Returns whether a request is allowed."""
    try:
        count(*who)
    except RateLimited:
        return False
    return True


def test_an_address_can_ask_five_times_from_any_client(processes: list[SignInLimits]) -> None:
    email = new_email()
    let_through = [
        passes(processes[number % 2].count_request, new_address(), email) for number in range(8)
    ]
    assert let_through == [True] * 5 + [False] * 3


def test_a_client_can_ask_thirty_times_for_whomever(processes: list[SignInLimits]) -> None:
    client = new_address()
    let_through = [
        passes(processes[number % 2].count_request, client, new_email()) for number in range(33)
    ]
    assert let_through == [True] * 30 + [False] * 3


def test_a_client_can_try_ten_codes_a_minute(limits: SignInLimits) -> None:
    client = new_address()
    let_through = [passes(limits.count_try, client) for _ in range(12)]
    assert let_through == [True] * 10 + [False] * 2
    assert passes(limits.count_try, new_address())
    with pytest.raises(RateLimited) as refused:
        limits.count_try(client)
    assert refused.value.retry_after_secs is not None
    assert 1 <= refused.value.retry_after_secs <= 60


def test_a_refused_client_uses_up_nothing_of_an_address(limits: SignInLimits) -> None:
    client, email = new_address(), new_email()
    for _ in range(30):
        limits.count_request(client, new_email())
    for _ in range(10):
        assert not passes(limits.count_request, client, email)
    let_through = [passes(limits.count_request, new_address(), email) for _ in range(6)]
    assert let_through == [True] * 5 + [False]


def test_a_refused_address_uses_up_nothing_of_a_client(limits: SignInLimits) -> None:
    client, email = new_address(), new_email()
    for _ in range(5):
        limits.count_request(client, email)
    for _ in range(40):
        assert not passes(limits.count_request, client, email)
    let_through = [passes(limits.count_request, client, new_email()) for _ in range(26)]
    assert let_through == [True] * 25 + [False]


def test_refused_tries_do_not_prolong_the_wait(limits: SignInLimits, runtime: Runtime) -> None:
    client = new_address()
    for _ in range(10):
        limits.count_try(client)
    [key] = runtime.redis.keys(f"sign-in*{client}*")
    held = runtime.redis.lrange(key, 0, -1)
    for _ in range(20):
        assert not passes(limits.count_try, client)
    assert runtime.redis.lrange(key, 0, -1) == held


def test_the_window_moves(limits: SignInLimits, runtime: Runtime) -> None:
    """A minute after the first of ten tries there is room for exactly one more."""
    client = new_address()
    for _ in range(10):
        limits.count_try(client)
    [key] = runtime.redis.keys(f"sign-in*{client}*")
    oldest = float(runtime.redis.lrange(key, -1, -1)[0])
    runtime.redis.lset(key, -1, str(oldest - 61))
    assert [passes(limits.count_try, client) for _ in range(2)] == [True, False]


def test_of_parallel_requests_no_more_get_through(processes: list[SignInLimits]) -> None:
    client, email = new_address(), new_email()

    def ask(number: int) -> bool:
        return passes(processes[number % 2].count_request, new_address(), email)

    def enter(number: int) -> bool:
        return passes(processes[number % 2].count_try, client)

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(50))) == 5
        assert sum(pool.map(enter, range(50))) == 10


def test_redis_stores_no_address_and_forgets_in_time(
    limits: SignInLimits, runtime: Runtime
) -> None:
    client, email = new_address(), new_email()
    limits.count_request(client, email)
    hashed = hashlib.sha256(email.encode()).hexdigest()
    keys = [*runtime.redis.keys(f"sign-in*{client}*"), *runtime.redis.keys(f"sign-in*{hashed}*")]
    assert len(keys) == 2
    assert all(0 < runtime.redis.ttl(key) <= 15 * 60 for key in keys)
    assert runtime.redis.keys(f"*{email}*") == []


def test_without_redis_no_request_passes() -> None:
    with connect_redis("redis://127.0.0.1:1/0") as client:
        limits = SignInLimits(client)
        with pytest.raises(Unavailable):
            limits.count_request(new_address(), new_email())
        with pytest.raises(Unavailable):
            limits.count_try(new_address())
