"""A mail server on a loopback port with configurable behaviour.

    with running_smtp() as smtp:
        …                                   # send with the settings `smtp.settings()`
        mail = smtp.wait_for("ann@example.org")
        assert "code" in mail.text

Each connection follows the next entry of `smtp.script`, and later ones `smtp.default`. An entry
maps a stage (`CONNECT`, a command such as `RCPT`, or `BODY` for the content) to the answer there,
or to one of the functions at the end of this file, after which the connection is closed.
"""

import binascii
import socketserver
import ssl
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import cast

FROM = "Watchpost <watchpost@example.org>"


@dataclass(frozen=True)
class Received:
    """A mail as it was taken. `username` is the name of the sign-in."""

    sender: str
    recipient: str
    content: bytes
    username: str | None
    over_tls: bool

    @property
    def message(self) -> EmailMessage:
        """The parsed mail."""
        return message_from_bytes(self.content, policy=default)

    @property
    def text(self) -> str:
        """The plain text."""
        return self._part("plain")

    @property
    def html(self) -> str:
        """The HTML."""
        return self._part("html")

    def _part(self, subtype: str) -> str:
        part = self.message.get_body((subtype,))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n")


class HangUp(Exception):
    """Ends a connection without a further answer."""


class Conversation(socketserver.StreamRequestHandler):
    """One connection. `act` looks up the behaviour of a stage."""

    def setup(self) -> None:
        """Prepares the connection, with TLS if that comes first."""
        super().setup()
        self.smtp = cast("_Server", self.server).smtp
        self.manners = self.smtp.next_manners()
        self.username: str | None = None
        self.over_tls = False
        self._sender = ""
        self._recipients: list[str] = []

    def handle(self) -> None:
        """Answers command after command."""
        with suppress(HangUp, OSError):
            if self.smtp.implicit_tls:
                self._begin_tls()
            self._answer("CONNECT", "220 here")
            while line := self.rfile.readline():
                verb, _, rest = line.decode().strip().partition(" ")
                self.smtp.commands.append(verb.lower())
                getattr(self, f"_on_{verb.lower()}", self._on_unknown)(rest)

    def finish(self) -> None:
        """Closes what TLS opened; the base class does the rest."""
        with suppress(OSError):
            super().finish()
        self.request.close()

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self.wfile.write(data)
        self.wfile.flush()

    def _answer(self, stage: str, usual: str) -> bool:
        """Sends the usual answer or the configured one. Returns whether it was the usual one."""
        told = self.manners.get(stage, usual)
        if not isinstance(told, str):
            told(self)
            raise HangUp
        self.send(told.encode() + b"\r\n")
        return told == usual

    def _begin_tls(self) -> None:
        assert self.smtp.tls is not None
        self.request = self.smtp.tls.wrap_socket(self.request, server_side=True)
        super().setup()
        self.over_tls = True

    def _on_ehlo(self, _rest: str) -> None:
        offers = ["here"]
        if self.smtp.tls is not None and not self.over_tls:
            offers.append("STARTTLS")
        elif self.smtp.accounts:
            offers.append("AUTH PLAIN")
        last = offers.pop()
        self._answer("EHLO", "".join(f"250-{offer}\r\n" for offer in offers) + f"250 {last}")

    def _on_starttls(self, _rest: str) -> None:
        if self._answer("STARTTLS", "220 go on"):
            self._begin_tls()

    def _on_auth(self, rest: str) -> None:
        try:
            _, username, password = b64decode(rest.removeprefix("PLAIN ")).decode().split("\0")
        except (binascii.Error, ValueError):
            self.send(b"504 only PLAIN\r\n")
            return
        right = self.smtp.accounts.get(username) == password
        wrong = f"535 not so: {rest} is {password}"
        if self._answer("AUTH", "235 welcome" if right else wrong) and right:
            self.username = username

    def _on_mail(self, rest: str) -> None:
        if self.smtp.accounts and self.username is None:
            self.send(b"530 sign in first\r\n")
        elif self._answer("MAIL", "250 fine"):
            self._sender, self._recipients = _address(rest), []

    def _on_rcpt(self, rest: str) -> None:
        if self._answer("RCPT", "250 fine"):
            self._recipients.append(_address(rest))

    def _on_data(self, _rest: str) -> None:
        if not self._answer("DATA", "354 go on"):
            return
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                raise HangUp
            lines.append(line.removeprefix(b"."))
        self.body = b"".join(lines)
        if self.manners.get("BODY") in (None, take_and_hang_up):
            self.take()
        self._answer("BODY", "250 taken")

    def take(self) -> None:
        """Keeps the mail, a copy for each recipient."""
        for recipient in self._recipients:
            self.smtp.messages.append(
                Received(self._sender, recipient, self.body, self.username, self.over_tls)
            )

    def _on_rset(self, _rest: str) -> None:
        self.send(b"250 fine\r\n")

    def _on_quit(self, _rest: str) -> None:
        self._answer("QUIT", "221 good-bye")
        raise HangUp

    def _on_unknown(self, _rest: str) -> None:
        self.send(b"502 what?\r\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    smtp: "Smtp"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores callers that hang up: some of these tests make them do so."""


Manners = Mapping[str, str | Callable[[Conversation], None]]


@dataclass
class Smtp:
    """The mails so far, and the behaviour of the next connections."""

    port: int
    tls: ssl.SSLContext | None
    implicit_tls: bool
    accounts: Mapping[str, str]
    messages: list[Received] = field(default_factory=list)
    script: list[Manners] = field(default_factory=list)
    default: Manners = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def settings(self, **fields: object) -> dict[str, object]:
        """Returns settings that send mail here, in clear unless `fields` say otherwise."""
        return {
            "smtp_host": "127.0.0.1",
            "smtp_port": self.port,
            "smtp_from": FROM,
            "smtp_tls": False,
            **fields,
        }

    def variables(self) -> dict[str, str]:
        """Returns environment variables that send mail here, in clear."""
        return {
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(self.port),
            "SMTP_FROM": FROM,
            "SMTP_TLS": "0",
        }

    def to(self, recipient: str) -> list[Received]:
        """Returns the mails to an address, oldest first."""
        return [mail for mail in list(self.messages) if mail.recipient == recipient]

    def wait_for(self, recipient: str, *, number: int = 1, secs: float = 60) -> Received:
        """Waits for the `number`th mail to an address and returns it."""
        deadline = time.monotonic() + secs
        while len(found := self.to(recipient)) < number:
            assert time.monotonic() < deadline, f"{recipient} got {len(found)} mails"
            time.sleep(0.02)
        return found[number - 1]

    def next_manners(self) -> Manners:
        """Returns the behaviour of a new connection."""
        with self._lock:
            return self.script.pop(0) if self.script else self.default


@contextmanager
def running_smtp(
    *,
    tls: ssl.SSLContext | None = None,
    implicit_tls: bool = False,
    accounts: Mapping[str, str] | None = None,
) -> Iterator[Smtp]:
    """Runs a mail server that accepts everything by default.

    With `tls` it offers STARTTLS or speaks TLS at once. With `accounts` (passwords by name) it
    requires a sign-in.
    """
    server = _Server(("127.0.0.1", 0), Conversation)
    server.smtp = Smtp(server.server_address[1], tls, implicit_tls, accounts or {})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.smtp
    finally:
        server.smtp.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _address(rest: str) -> str:
    return rest[rest.index("<") + 1 : rest.index(">")]


def hang(conversation: Conversation) -> None:
    """Never answers."""
    conversation.smtp.stopping.wait(60)


def drip(conversation: Conversation) -> None:
    """Starts an answer and continues it one byte at a time, without end."""
    conversation.send(b"250 ")
    while not conversation.smtp.stopping.wait(0.02):
        conversation.send(b"x")


def endless(conversation: Conversation) -> None:
    """Sends an answer with lines without end."""
    while not conversation.smtp.stopping.wait(0.02):
        conversation.send(b"250-and more\r\n")


def hang_up(_conversation: Conversation) -> None:
    """Closes the connection instead of answering."""


def take_and_hang_up(_conversation: Conversation) -> None:
    """Keeps the mail at `BODY` and closes the connection without an answer."""
