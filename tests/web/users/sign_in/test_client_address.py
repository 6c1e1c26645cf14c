"""The client's address: headers count only behind configured proxies."""

from collections.abc import Iterator

import msgspec
import pytest
from flask import Flask

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import settings_for
from web.app import create_app
from web.client_address import client_of_request

PEER = "198.51.100.9"


@pytest.fixture(scope="module")
def behind(stack: DevStack) -> Iterator[dict[int, Flask]]:
    """Makes an application behind this many proxies."""
    settings = settings_for(stack.urls)
    runtimes = [
        Runtime.connect(msgspec.structs.replace(settings, trusted_proxy_hops=hops))
        for hops in range(3)
    ]
    yield {hops: create_app(runtime) for hops, runtime in enumerate(runtimes)}
    for runtime in runtimes:
        runtime.close()


def client(app: Flask, *forwarded: str, peer: str = PEER) -> str:
    """Returns the client of a request with these X-Forwarded-For headers."""
    headers = [("X-Forwarded-For", value) for value in forwarded]
    with app.test_request_context(headers=headers, environ_base={"REMOTE_ADDR": peer}):
        return client_of_request()


@pytest.mark.parametrize(
    ("hops", "forwarded", "expected"),
    [
        (0, [], PEER),
        (0, ["203.0.113.1"], PEER),
        (1, ["203.0.113.1"], "203.0.113.1"),
        (1, [" 203.0.113.1 "], "203.0.113.1"),
        (1, [], PEER),
        (1, [""], PEER),
        # The client itself wrote everything left of the trusted entry.
        (1, ["192.0.2.66, 203.0.113.1"], "203.0.113.1"),
        (1, ["192.0.2.66", "203.0.113.1"], "203.0.113.1"),
        (1, ["192.0.2.66, , ,203.0.113.1"], "203.0.113.1"),
        (2, ["203.0.113.1, 10.0.0.1"], "203.0.113.1"),
        (2, ["192.0.2.66, 203.0.113.1, 10.0.0.1"], "203.0.113.1"),
        (2, ["192.0.2.66, 203.0.113.1", "10.0.0.1"], "203.0.113.1"),
        # Too few entries: the request did not pass the proxies.
        (2, ["203.0.113.1"], PEER),
        (2, [], PEER),
        (1, ["192.0.2.66, unknown"], PEER),
        (1, ["192.0.2.66, "], PEER),
        (1, ["_hidden"], PEER),
        (1, ["203.0.113.1/8"], PEER),
        (1, ["203.0.113.1.5"], PEER),
        (1, ["0x7f.1"], PEER),
    ],
)
def test_proxies_that_are_trusted_are_counted_from_the_right(
    behind: dict[int, Flask], hops: int, forwarded: list[str], expected: str
) -> None:
    assert client(behind[hops], *forwarded) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("203.0.113.1:8080", "203.0.113.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::6]", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::6]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:203.0.113.1", "203.0.113.1"),
        ("[::ffff:203.0.113.1]:80", "203.0.113.1"),
        ("::ffff:cb00:7101", "203.0.113.1"),
        ("::1", "::/64"),
        ("2001:db8::1]:80", PEER),
        ("[203.0.113.1]", "203.0.113.1"),
    ],
)
def test_one_client_has_one_name(behind: dict[int, Flask], entry: str, expected: str) -> None:
    assert client(behind[1], entry) == expected


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("::ffff:198.51.100.9", "198.51.100.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_so_has_a_peer(behind: dict[int, Flask], peer: str, expected: str) -> None:
    assert client(behind[0], peer=peer) == expected
    assert client(behind[1], peer=peer) == expected
