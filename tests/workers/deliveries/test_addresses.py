"""Addresses that a webhook may reach, for all spellings, names and DNS answers."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from shared.foundation.core.addresses import is_public, is_surely_private
from shared.watch.incidents.deliveries.rules import NoReceiverAnswer, ReceiverAnswer
from tests.support import evaluator as behave
from tests.support.notifications import WEBHOOK, Desk
from tests.support.receivers import Receiver
from workers.deliveries.client import NOT_PUBLIC, DeliveryClient

REFUSED = NoReceiverAnswer(NOT_PUBLIC, is_final=True)
NOWHERE = NoReceiverAnswer("the URL of the webhook is not valid", is_final=True)
NAMELESS = NoReceiverAnswer("the name of the receiver has no address")


class Answers(AbstractResolver):
    """A name server that gives one list of addresses after the other, then the last one again."""

    def __init__(self, *lists: Sequence[str]) -> None:
        self.left = list(lists)
        self.asked = 0

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 the base class uses this name
    ) -> list[ResolveResult]:
        self.asked += 1
        addresses = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0
            )
            for address in addresses
        ]

    async def close(self) -> None:
        pass


@contextmanager
def client(
    *, allow_private: bool = False, resolver: AbstractResolver | None = None
) -> Iterator[DeliveryClient]:
    made = DeliveryClient(allow_private=allow_private, deadline_secs=30, resolver=resolver)
    yield made
    made.close()


@pytest.fixture
def no_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolves only spellings of numbers and localhost: a real name server may take long."""
    look_up = socket.getaddrinfo

    def known(host: str, *rest: Any, **more: Any) -> Any:
        name = host.removesuffix(".")
        if name != "localhost":
            more["flags"] = socket.AI_NUMERICHOST
        return look_up(name, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", known)


def post(url: str, resolver: AbstractResolver | None = None) -> ReceiverAnswer | NoReceiverAnswer:
    """Returns the result of a delivery that may not reach private addresses."""
    with client(resolver=resolver) as one:
        return one.start(url, {}, b"{}").result()


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 an address that reaches loopback
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:7f00:1::",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%lo",
        "2606:4700:4700::1111%lo",
        "fec0::1",
        "ff02::1",
        "localhost",
        "",
        "127.1",
    ],
)
def test_addresses_outside_the_internet_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2a00:1450:4001::1",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.flow
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "127.1",
        "127.0.1",
        "0",
        "0.0.0.0",  # noqa: S104 an address that reaches loopback
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "0177.0x0.1",
        "\uff11\uff12\uff17.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "someone@127.0.0.1",
        "1.1.1.1@127.0.0.1",
    ],
)
@pytest.mark.usefixtures("no_name_server")
def test_no_spelling_of_loopback_is_reached(receiver: Receiver, host: str) -> None:
    port = receiver.server.url.rpartition(":")[2]
    result = post(f"http://{host}:{port}/")
    # The HTTP client refuses some as addresses, and the operating system cannot resolve others.
    assert result in (REFUSED, NOWHERE, NAMELESS)
    assert receiver.deliveries == []


@pytest.mark.flow
def test_a_name_that_also_leads_to_us_is_refused_as_a_whole(receiver: Receiver) -> None:
    for addresses in (["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["127.0.0.1", "1.1.1.1"]):
        assert post(receiver.url.replace("127.0.0.1", "a.example"), Answers(addresses)) == REFUSED
    assert receiver.deliveries == []


@pytest.mark.flow
def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(receiver: Receiver) -> None:
    # Nothing answers on documentation's network. The second answer would be this machine.
    rebinding = Answers(["192.0.2.1"], ["127.0.0.1"])
    with client(allow_private=True, resolver=rebinding) as one:
        one.deadline_secs = 0.3
        url = receiver.url.replace("127.0.0.1", "a.example")
        assert isinstance(one.start(url, {}, b"{}").result(), NoReceiverAnswer)
    assert rebinding.asked == 1
    assert post(url, Answers(["1.1.1.1", "127.0.0.1"], ["127.0.0.1"])) == REFUSED
    assert receiver.deliveries == []


@pytest.mark.flow
def test_an_address_that_the_resolver_let_pass_is_looked_at_again(receiver: Receiver) -> None:
    with client(resolver=Answers(["127.0.0.1"])) as one:
        one._resolver = Answers(["127.0.0.1"])
        url = receiver.url.replace("127.0.0.1", "a.example")
        assert one.start(url, {}, b"{}").result() == REFUSED
    assert receiver.deliveries == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.example/", "gopher://a", "a", ""])
def test_only_http_is_spoken(url: str) -> None:
    assert post(url) == NoReceiverAnswer("the webhook is not an http or https URL", is_final=True)


@pytest.mark.flow
def test_a_url_may_hold_any_letters(receiver: Receiver) -> None:
    port = receiver.server.url.rpartition(":")[2]
    with client(allow_private=True, resolver=Answers(["127.0.0.1"])) as one:
        url = f"http://b\u00fccher.example:{port}/a%2Fb/\u00fc?x=\u00e9+{{%20"
        assert one.start(url, {}, b"{}").result() == ReceiverAnswer(200)
    [delivery] = receiver.deliveries
    assert delivery.headers["host"] == f"xn--bcher-kva.example:{port}"
    assert delivery.path == "/a%2Fb/%C3%BC?x=%C3%A9+%7B%20"


@pytest.mark.flow
def test_a_redirect_to_us_is_not_followed(receiver: Receiver) -> None:
    receiver.default = behave.reply(307, b"", {"Location": receiver.server.url + "/inside"})
    with client(allow_private=True) as one:
        result = one.start(receiver.url, {}, b"{}").result()
    assert result == ReceiverAnswer(307)
    assert len(receiver.deliveries) == 1


@pytest.mark.flow
def test_no_proxy_of_the_environment_is_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", receiver.server.url)
    monkeypatch.setenv("http_proxy", receiver.server.url)
    with client(allow_private=True, resolver=Answers(["192.0.2.1"])) as one:
        one.deadline_secs = 0.3
        one.start("http://a.example/", {}, b"{}").result()
    assert receiver.deliveries == []


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64 + ".example", "a..b"])
@pytest.mark.usefixtures("no_name_server")
def test_a_name_without_an_address_is_no_answer_and_not_repeated(host: str) -> None:
    assert post(f"http://{host}/") == NAMELESS


def test_people_see_the_refusal_but_no_address(desk: Desk, receiver: Receiver) -> None:
    desk.configure(webhook_allow_private=False)
    desk.set("webhook_default_url", receiver.url.replace("127.0.0.1", "localhost"))
    desk.open(WEBHOOK)
    desk.send()
    assert (desk.row()["status"], desk.row()["error"]) == ("failed", NOT_PUBLIC)
    assert "127.0.0.1" not in str(dict(desk.row()))
    assert receiver.deliveries == []


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("10.0.0.7", True),
        ("::1", True),
        ("receiver", True),
        ("a.internal", True),
        ("1.1.1.1", False),
    ],
)
def test_some_hosts_are_private_without_a_look_up(host: str, private: bool) -> None:
    assert is_surely_private(host) == private
