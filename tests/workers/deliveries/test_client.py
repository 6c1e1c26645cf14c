"""One attempt: the errors that people see for an unreachable receiver."""

import socket
import ssl
import threading
from contextlib import suppress
from typing import Any

import pytest
import trustme

from shared.watch.incidents.deliveries.rules import NoReceiverAnswer, ReceiverAnswer
from tests.support import evaluator as behave
from tests.support.receivers import Receiver
from workers.deliveries.client import DeliveryClient

pytestmark = pytest.mark.flow


def attempt(url: str) -> ReceiverAnswer | NoReceiverAnswer:
    client = DeliveryClient(allow_private=True, deadline_secs=5)
    try:
        return client.start(url, {}, b"{}").result()
    finally:
        client.close()


def test_an_unknown_certificate_is_not_accepted() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
                secured.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        result = attempt(f"https://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()
    assert result == NoReceiverAnswer("the certificate of the receiver is not valid")


def test_a_receiver_without_tls_has_its_own_error(receiver: Receiver) -> None:
    result = attempt(receiver.url.replace("http:", "https:"))
    assert result == NoReceiverAnswer("the receiver does not speak TLS")
    assert receiver.deliveries == []


def test_a_closed_port_is_not_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert attempt(f"http://127.0.0.1:{port}/") == NoReceiverAnswer(
        "the receiver could not be reached"
    )


@pytest.mark.parametrize("behaviour", [behave.garbage, behave.endless_headers])
def test_an_answer_that_is_not_http_is_reported_without_a_quote(
    receiver: Receiver, behaviour: behave.Answer
) -> None:
    receiver.default = behaviour
    assert attempt(receiver.url) == NoReceiverAnswer("the answer of the receiver is not HTTP")


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_an_unusable_url_is_not_followed(port: str) -> None:
    expected = NoReceiverAnswer("the URL of the webhook is not valid", is_final=True)
    assert attempt(f"http://127.0.0.1:{port}/") == expected


def test_name_servers_that_hang_delay_no_other_name(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    look_up = socket.getaddrinfo

    def slow(host: str, *rest: Any, **more: Any) -> Any:
        if host == "hangs.example":
            over.wait(60)
        return look_up("127.0.0.1", *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    client = DeliveryClient(allow_private=True, deadline_secs=30)
    url = receiver.url.replace("127.0.0.1", "{}.example")
    hanging = [client.start(url.format("hangs"), {}, b"{}") for _ in range(100)]
    assert client.start(url.format("answers"), {}, b"{}").result() == ReceiverAnswer(200)
    assert not any(future.done() for future in hanging)
    over.set()
    assert {future.result() for future in hanging} == {ReceiverAnswer(200)}
    client.close()


def test_a_look_up_ends_with_its_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def hang(*_rest: object, **_more: object) -> None:
        over.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    client = DeliveryClient(allow_private=True, deadline_secs=0.2)
    result = client.start("http://hangs.example/", {}, b"{}").result()
    over.set()
    client.close()
    assert result == NoReceiverAnswer("no answer within 0.2 s")
