"""One mail to the mail server, for any behaviour of it."""

import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import trustme

from devstack.ports import free_port
from shared.access.mail.message import compose
from shared.access.mail.rendering import MailContent
from shared.foundation.core.clock import now
from shared.foundation.core.config import Settings
from shared.foundation.core.ids import new_id
from tests.support import smtp as behave
from tests.support.smtp import Manners, Smtp, running_smtp
from workers.mail.smtp import NotSent, Refused, Security, SmtpClient, SmtpLimits

pytestmark = pytest.mark.flow

TO = "ann@example.net"
PASSWORD = "correct horse"
ACCOUNTS = {"watchpost": PASSWORD}


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """A certificate authority that this process trusts, set up as an operator would do it."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return made


def server_side(authority: trustme.CA, name: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def settings(**fields: object) -> Settings:
    return Settings(
        database_url="postgresql://",
        redis_url="redis://",
        clickhouse_url="clickhouse://",
        **fields,  # type: ignore[arg-type] # Settings checks the fields
    )


_clients: list[SmtpClient] = []


@pytest.fixture(autouse=True)
def closed_clients() -> Iterator[None]:
    """Ends the event loops of a test's clients."""
    yield
    while _clients:
        _clients.pop().close()


def client_of(
    smtp: Smtp, *, limits: SmtpLimits | None = None, security: Security | None = None, **fields: Any
) -> SmtpClient:
    _clients.append(
        SmtpClient(
            settings(**smtp.settings(**fields)), security=security, limits=limits or SmtpLimits()
        )
    )
    return _clients[-1]


def send(
    client: SmtpClient, recipient: str = TO, *, text: str = "in text\n.\n..and dots\n"
) -> None:
    content = MailContent("Hello", text, "<p>in HTML</p>")
    message = compose(new_id(), content, sender=behave.FROM, recipient=recipient, at=now())
    client.send(message, recipient)


def signs_in(smtp: Smtp, **fields: Any) -> SmtpClient:
    return client_of(smtp, smtp_username="watchpost", smtp_password=PASSWORD, **fields)


def test_a_mail_arrives_as_it_was_sent(smtp: Smtp) -> None:
    send(client_of(smtp))
    [mail] = smtp.messages
    assert (mail.sender, mail.recipient) == ("watchpost@example.org", TO)
    assert (mail.username, mail.over_tls) == (None, False)
    assert mail.text == "in text\n.\n..and dots\n"
    assert mail.html == "<p>in HTML</p>\n"


def test_only_the_recipient_gets_it_whatever_the_address_looks_like(smtp: Smtp) -> None:
    client = client_of(smtp)
    send(client, '"a,b"@example.net')
    assert [mail.recipient for mail in smtp.messages] == ['"a,b"@example.net']


@pytest.mark.parametrize(
    ("manners", "answer"),
    [
        ({"RCPT": "550 nobody here"}, "550 nobody here"),
        ({"RCPT": "553-nobody\r\n553 here"}, "553 nobody\nhere"),
        ({"MAIL": "501 not from you"}, "501 not from you"),
        ({"DATA": "554 no"}, "554 no"),
        ({"BODY": "552 too much"}, "552 too much"),
    ],
)
def test_permanent_refusals_are_not_retried(smtp: Smtp, manners: Manners, answer: str) -> None:
    smtp.script = [manners]
    with pytest.raises(Refused) as refused:
        send(client_of(smtp))
    assert str(refused.value) == f"the mail server answered {answer}"
    assert smtp.messages == []


@pytest.mark.parametrize(
    "manners",
    [
        {"CONNECT": "421 too many"},
        {"CONNECT": "554 not at this time"},
        {"EHLO": "421 too many"},
        {"MAIL": "451 later"},
        {"MAIL": "530 sign in"},
        {"RCPT": "451 later"},
        {"DATA": "451 later"},
        {"BODY": "452 full"},
        {"CONNECT": behave.hang_up},
        {"EHLO": behave.hang_up},
        {"RCPT": behave.hang_up},
        {"BODY": behave.hang_up},
        {"MAIL": "nonsense"},
    ],
    ids=" ".join,
)
def test_temporary_refusals_are_retried(smtp: Smtp, manners: Manners) -> None:
    smtp.script = [manners]
    client = client_of(smtp)
    with pytest.raises(NotSent, match=r"^the mail server"):
        send(client)
    assert smtp.messages == []
    send(client)
    assert len(smtp.messages) == 1


def test_a_mail_that_was_taken_is_sent_whatever_becomes_of_the_good_bye(smtp: Smtp) -> None:
    smtp.script = [{"QUIT": behave.hang_up}, {"QUIT": "500 no"}, {"QUIT": behave.drip}]
    client = client_of(smtp, limits=SmtpLimits(exchange_secs=1))
    for _ in range(3):
        send(client)
    assert len(smtp.messages) == 3


def test_a_server_that_is_not_there_is_said_to_be_away(smtp: Smtp) -> None:
    with pytest.raises(NotSent, match="could not be reached: Connection refused"):
        send(client_of(smtp, smtp_port=free_port()))


@pytest.mark.parametrize("stage", ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "BODY"])
def test_a_wait_ends(smtp: Smtp, stage: str) -> None:
    smtp.script = [{stage: behave.hang}]
    with pytest.raises(NotSent):
        send(client_of(smtp, limits=SmtpLimits(wait_secs=0.2, exchange_secs=60)))


@pytest.mark.parametrize("stage", ["CONNECT", "EHLO", "RCPT", "BODY"])
@pytest.mark.parametrize("behaviour", [behave.drip, behave.endless])
def test_a_server_that_never_stops_talking_is_cut_off(
    smtp: Smtp, stage: str, behaviour: object
) -> None:
    smtp.script = [{stage: behaviour}]  # type: ignore[dict-item] # one of the two above
    with pytest.raises(NotSent, match=r"did not finish within 0\.4 s"):
        send(client_of(smtp, limits=SmtpLimits(wait_secs=30, exchange_secs=0.4)))


def test_a_handshake_that_never_ends_is_cut_off(smtp: Smtp, authority: trustme.CA) -> None:
    smtp.script = [{"CONNECT": behave.hang}]
    limits = SmtpLimits(wait_secs=30, exchange_secs=0.4)
    with pytest.raises(NotSent, match=r"did not finish within 0\.4 s"):
        send(client_of(smtp, limits=limits, security=Security.IMPLICIT))


def test_nothing_more_is_written_to_a_server_that_stops_reading(smtp: Smtp) -> None:
    """Otherwise each such mail would stay in memory for as long as the server likes."""
    gave_up = threading.Event()
    received: Queue[int] = Queue()

    def read_late(conversation: behave.Conversation) -> None:
        conversation.send(b"354 go on\r\n")
        gave_up.wait(60)
        received.put(len(conversation.rfile.read()))

    smtp.script = [{"DATA": read_late}]
    # More than the kernel buffers for a connection.
    text = ("large " * 12 + "\n") * 100_000
    with pytest.raises(NotSent):
        send(client_of(smtp, limits=SmtpLimits(wait_secs=1)), text=text)
    gave_up.set()
    assert received.get(timeout=60) < len(text)


def test_starttls_with_a_trusted_certificate(authority: trustme.CA) -> None:
    with running_smtp(tls=server_side(authority), accounts=ACCOUNTS) as smtp:
        send(signs_in(smtp, smtp_tls=True))
        [mail] = smtp.messages
        assert (mail.username, mail.over_tls) == ("watchpost", True)


def test_tls_from_the_first_byte_on(authority: trustme.CA) -> None:
    with running_smtp(tls=server_side(authority), implicit_tls=True, accounts=ACCOUNTS) as smtp:
        send(signs_in(smtp, security=Security.IMPLICIT))
        [mail] = smtp.messages
        assert (mail.username, mail.over_tls) == ("watchpost", True)


@pytest.mark.parametrize(
    ("tls", "port", "expected"),
    [
        (True, 587, Security.STARTTLS),
        (True, 2525, Security.STARTTLS),
        (True, 465, Security.IMPLICIT),
        (False, 465, Security.NONE),
        (False, 25, Security.NONE),
    ],
)
def test_the_port_says_when_tls_begins(tls: bool, port: int, expected: Security) -> None:
    assert Security.of(settings(smtp_tls=tls, smtp_port=port)) is expected


def test_nothing_is_sent_in_clear_where_tls_is_required(smtp: Smtp) -> None:
    smtp.accounts = ACCOUNTS
    with pytest.raises(NotSent, match="STARTTLS"):
        send(signs_in(smtp, smtp_tls=True))
    assert smtp.commands[-1] == "ehlo"


@pytest.mark.parametrize("name", ["127.0.0.2", "mail.example.org"])
def test_a_certificate_for_another_name_is_not_accepted(authority: trustme.CA, name: str) -> None:
    with running_smtp(tls=server_side(authority, name)) as smtp:
        with pytest.raises(NotSent, match="certificate is not valid"):
            send(client_of(smtp, smtp_tls=True))
        assert smtp.messages == []


@pytest.mark.parametrize("security", [Security.STARTTLS, Security.IMPLICIT])
def test_an_untrusted_certificate_is_not_accepted(
    authority: trustme.CA, security: Security
) -> None:
    context = server_side(trustme.CA())
    with running_smtp(tls=context, implicit_tls=security is Security.IMPLICIT) as smtp:
        with pytest.raises(NotSent, match="certificate is not valid"):
            send(client_of(smtp, security=security))
        assert smtp.messages == []


def test_a_server_that_wants_a_sign_in_says_so(smtp: Smtp) -> None:
    smtp.accounts = ACCOUNTS
    with pytest.raises(NotSent, match="530 sign in first"):
        send(client_of(smtp))


def test_a_wrong_password_may_be_corrected_and_is_never_shown(smtp: Smtp) -> None:
    """The server of these tests quotes the password, in clear and as it was sent."""
    smtp.accounts = {"watchpost": "another"}
    with pytest.raises(NotSent, match="535") as error:
        send(signs_in(smtp))
    assert "[hidden]" in str(error.value)
    assert PASSWORD not in str(error.value)
    assert b64encode(PASSWORD.encode()).decode() not in str(error.value)
    assert b64encode(f"\0watchpost\0{PASSWORD}".encode()).decode() not in str(error.value)


def test_a_password_beyond_ascii_works_and_is_not_shown_either(smtp: Smtp) -> None:
    client = client_of(smtp, smtp_username="watchpost", smtp_password="pässword")
    smtp.accounts = {"watchpost": "pässword"}
    send(client)
    assert [mail.username for mail in smtp.messages] == ["watchpost"]
    smtp.accounts = ACCOUNTS
    with pytest.raises(NotSent, match="535") as error:
        send(client)
    assert "ä" not in str(error.value)
    assert b64encode("\0watchpost\0pässword".encode()).decode() not in str(error.value)


def test_an_address_that_the_server_cannot_write_is_refused(smtp: Smtp) -> None:
    with pytest.raises(Refused, match="SMTPUTF8"):
        send(client_of(smtp), "änn@example.net")
