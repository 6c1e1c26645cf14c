"""Strangers who try a thousand times, against two real web tiers on the same stores."""

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.cookies import SimpleCookie
from itertools import islice
from typing import Any

import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, AGENT_API_KEY, Headers, bearer, new_key
from tests.support.people import add_member, new_email
from tests.support.runtime import Org
from tests.support.server import Server
from tests.support.sign_in import new_address, new_code, row_of

TIMES = 1000
AT_ONCE = 8
# Fields in which six digits may occur by chance.
_CHANCE = ("timestamp", "request_id", "duration_ms")


class Client:
    """A client with its own address, who writes a forged one to the left of it each time."""

    def __init__(self, servers: list[Server]) -> None:
        self.servers = servers
        self.address = new_address()

    def send(
        self, number: int, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Returns status, headers and decoded body. `number` chooses the server."""
        status, answered, content = self.servers[number % 2].request(
            method,
            f"/v1{path}",
            None if body is None else json.dumps(body).encode(),
            Content_Type="application/json",
            X_Forwarded_For=f"{new_address()}, {self.address}",
            **{name.replace("-", "_"): value for name, value in headers.items()},
        )
        return status, answered, json.loads(content)


@pytest.fixture
def attacker(servers: list[Server]) -> Client:
    """The client that guesses."""
    return Client(servers)


@pytest.fixture
def email(runtime: Runtime, org: Org) -> str:
    """A member's address."""
    address = new_email()
    add_member(runtime, org, email=address)
    return address


@pytest.fixture
def bystander(runtime: Runtime, org: Org, servers: list[Server]) -> Callable[[], int]:
    """Returns the status of requests with a valid key, from both servers in turn."""
    client, key = Client(servers), new_key(runtime, org, {"events:read"})
    numbers = iter(range(10**9))

    def ask() -> int:
        return client.send(next(numbers), "GET", "/events/tool_names", **key)[0]

    return ask


@contextmanager
def asked_meanwhile(ask: Callable[[], int]) -> Iterator[list[int]]:
    """Sends requests until the block ends and collects the answers."""
    answered: list[int] = []
    over = threading.Event()

    def go_on() -> None:
        while not over.is_set():
            answered.append(ask())

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield answered
    finally:
        over.set()
        thread.join()


def many(what: Callable[[int], int]) -> tuple[Counter[int], int]:
    """Returns the number of answers by status, and the number of started minutes."""
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = Counter(pool.map(what, range(TIMES)))
    return statuses, 1 + int(time.monotonic() - began) // 60


def told(servers: list[Server]) -> list[dict[str, Any]]:
    """Returns the lines that both servers logged, without fields that hold digits by chance."""
    lines = [json.loads(line) for server in servers for line in server.log.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in _CHANCE} for line in lines]


def require_untold(servers: list[Server], *told_to_nobody: str) -> None:
    """Checks that none of these is in a log."""
    lines = [json.dumps(line) for line in told(servers)]
    assert len(lines) > TIMES
    for text in told_to_nobody:
        assert [line for line in lines if text in line] == []


def test_a_thousand_codes(
    runtime: Runtime,
    org: Org,
    servers: list[Server],
    attacker: Client,
    email: str,
    bystander: Callable[[], int],
) -> None:
    """Ten a minute are checked. Five of them kill the code, and no other code."""
    other = new_email()
    add_member(runtime, org, email=other)
    code, code_of_other = new_code(runtime, email), new_code(runtime, other)
    wrong = list(islice((f"{n:06}" for n in range(10**6) if f"{n:06}" != code), TIMES))

    def guess(number: int) -> int:
        body = {"email": email, "code": wrong[number]}
        status, headers, _ = attacker.send(number, "POST", "/auth/otp/verify", body)
        assert "Set-Cookie" not in headers
        assert status != 429 or int(headers["Retry-After"]) >= 1
        return status

    with asked_meanwhile(bystander) as answered:
        statuses, minutes = many(guess)
    assert statuses.keys() == {401, 429}
    assert 10 <= statuses[401] <= 10 * minutes
    assert set(answered) == {200}
    row = row_of(runtime, email)
    assert row is not None
    assert row.wrong_tries == 5
    friend = Client(servers)
    used = {"email": email, "code": code}
    assert friend.send(0, "POST", "/auth/otp/verify", used)[0] == 401
    right = {"email": other, "code": code_of_other}
    status, headers, _ = friend.send(1, "POST", "/auth/otp/verify", right)
    assert status == 200
    token = SimpleCookie(headers["Set-Cookie"])["service_session"].value
    require_untold(servers, code, code_of_other, token, email, other)


def test_a_thousand_requests_for_codes(
    runtime: Runtime,
    servers: list[Server],
    attacker: Client,
    email: str,
    bystander: Callable[[], int],
) -> None:
    """Thirty per client count, and a code that was sent before them still works."""
    code = new_code(runtime, email)
    addresses = [new_email() for _ in range(TIMES)]

    def ask(number: int) -> int:
        body = {"email": addresses[number]}
        return attacker.send(number, "POST", "/auth/otp/request", body)[0]

    with asked_meanwhile(bystander) as answered:
        statuses, _ = many(ask)
    assert statuses == {200: 30, 429: TIMES - 30}
    assert set(answered) == {200}
    friend = Client(servers)
    assert friend.send(0, "POST", "/auth/otp/request", {"email": new_email()})[0] == 200
    assert friend.send(1, "POST", "/auth/otp/verify", {"email": email, "code": code})[0] == 200
    require_untold(servers, code, *addresses[:20])


def test_a_thousand_requests_for_one_address_from_everywhere(
    servers: list[Server], email: str
) -> None:
    """Five count, wherever they come from."""

    def ask(number: int) -> int:
        return Client(servers).send(number, "POST", "/auth/otp/request", {"email": email})[0]

    assert many(ask)[0] == {200: 5, 429: TIMES - 5}


def test_a_thousand_unknown_keys(
    servers: list[Server], attacker: Client, bystander: Callable[[], int]
) -> None:
    """Half of them look like sessions and are sent as cookies."""
    made_up = [
        f"{'wps' if number % 2 else 'wp'}_{secrets.token_urlsafe(32)}" for number in range(TIMES)
    ]

    def knock(number: int) -> int:
        secret = made_up[number]
        cookie = {"Cookie": f"service_session={secret}"}
        headers: Headers = cookie if number % 2 else bearer(secret)
        return attacker.send(number // 2, "GET", "/events", **headers)[0]

    with asked_meanwhile(bystander) as answered:
        statuses, _ = many(knock)
    assert statuses == {401: TIMES}
    assert set(answered) == {200}
    require_untold(servers, ADMIN_KEY, AGENT_API_KEY, *made_up[:20])


def test_a_cookie_is_worth_nothing_anywhere_once_its_user_is_disabled(
    runtime: Runtime, org: Org, servers: list[Server]
) -> None:
    """Signed in on one server, used on the other, disabled on the first."""
    browser, email = Client(servers), new_email()
    user_id = add_member(runtime, org, email=email)
    body = {"email": email, "code": new_code(runtime, email)}
    _, headers, _ = browser.send(0, "POST", "/auth/otp/verify", body)
    cookie = {"Cookie": headers["Set-Cookie"].partition(";")[0]}
    for number in (1, 0):
        assert browser.send(number, "GET", "/keys", **cookie)[0] == 200
        assert browser.send(number, "GET", "/auth/session", **cookie)[0] == 200
    admin = bearer(ADMIN_KEY, org.slug)
    assert browser.send(0, "DELETE", f"/users/{user_id}", **admin)[0] == 200
    for number in (1, 0):
        assert browser.send(number, "GET", "/keys", **cookie)[0] == 401
        assert browser.send(number, "GET", "/auth/session", **cookie)[0] == 401
