"""Sends one mail to a mail server, which may hang, drip or refuse, within a deadline."""

import asyncio
import os
import socket
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr
from enum import Enum

import aiosmtplib
from aiohappyeyeballs import start_connection

from shared.foundation.core.config import Settings
from shared.foundation.core.tracing import spans
from workers.call_loop import CallLoop

_IMPLICIT_TLS_PORT = 465

# If there is no connection after this time, the server's next address is tried as well.
_NEXT_ADDRESS_SECS = 0.25

# "Sign in first", "too weak", "wrong password", "use TLS": the deployment has to be corrected, so
# the waiting mails stay queued.
_ABOUT_THE_SIGN_IN = frozenset({530, 534, 535, 538})

_HIDDEN = "[hidden]"


class Refused(Exception):
    """The mail server will never accept this mail."""


class NotSent(Exception):
    """The mail was not accepted now, but may be later."""


class Security(Enum):
    """The protection of the connection."""

    NONE = "none"
    STARTTLS = "starttls"
    IMPLICIT = "implicit"

    @classmethod
    def of(cls, settings: Settings) -> "Security":
        """Returns the protection that SMTP_TLS and SMTP_PORT ask for."""
        if not settings.smtp_tls:
            return cls.NONE
        return cls.IMPLICIT if settings.smtp_port == _IMPLICIT_TLS_PORT else cls.STARTTLS


@dataclass(frozen=True)
class SmtpLimits:
    """Limits in seconds: for one answer of the mail server, and for the whole exchange."""

    wait_secs: float = 15.0
    exchange_secs: float = 60.0


DEFAULT_LIMITS = SmtpLimits()


class SmtpClient:
    """A client of the mail server in the settings, with a connection per mail; thread-safe."""

    def __init__(
        self,
        settings: Settings,
        *,
        security: Security | None = None,
        limits: SmtpLimits = DEFAULT_LIMITS,
    ) -> None:
        if settings.smtp_host is None or settings.smtp_from is None:
            raise ValueError("SMTP_HOST is not set")
        self._host, self._port = settings.smtp_host, settings.smtp_port
        self._username, self._password = settings.smtp_username, settings.smtp_password or ""
        self._security = Security.of(settings) if security is None else security
        self._sender = parseaddr(settings.smtp_from)[1]
        self.limits = limits
        # Trusts the system's certificates, or those that SSL_CERT_FILE names.
        self._tls = ssl.create_default_context()
        self._loop = CallLoop("mail-client")

    def send(self, message: EmailMessage, recipient: str) -> None:
        """Returns once the mail server has accepted the mail. Raises `Refused` or `NotSent`.

        Their texts may quote the mail server, but never contain the password.
        """
        with spans.part("SMTP", {"network.protocol.name": "smtp"}):
            self._loop.start(self._exchange(message, recipient)).result()

    def close(self) -> None:
        """Ends the event loop of this client."""
        self._loop.close()

    async def _exchange(self, message: EmailMessage, recipient: str) -> None:
        taken = False
        deadline = asyncio.timeout(self.limits.exchange_secs)
        try:
            async with deadline, self._connection() as connection:
                await connection.send_message(message, sender=self._sender, recipients=[recipient])
                taken = True
                await connection.quit()
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            if taken:  # The server has accepted the mail, even if QUIT fails.
                return
            reason = self._without_password(_reason(error))
            if deadline.expired():
                secs = self.limits.exchange_secs
                reason = f"the mail server did not finish within {secs:g} s"
            raise (Refused if _is_final(error) else NotSent)(reason) from None

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[aiosmtplib.SMTP]:
        """Opens a connection that is protected and signed in as the settings require."""
        addresses = await asyncio.get_running_loop().getaddrinfo(
            self._host, self._port, type=socket.SOCK_STREAM
        )
        connected = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS_SECS)
        connection = aiosmtplib.SMTP(
            sock=connected,
            hostname=self._host,
            username=self._username,
            password=self._password,
            local_hostname=_own_name(),
            timeout=self.limits.wait_secs,
            use_tls=self._security is Security.IMPLICIT,
            start_tls=self._security is Security.STARTTLS,
            tls_context=self._tls,
        )
        try:
            await connection.connect()
            yield connection
        finally:
            # An event loop keeps a closed connection while it has data left to write: forever, if
            # the server stops reading.
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def _without_password(self, reason: str) -> str:
        if not self._password:
            return reason
        plain = f"\0{self._username}\0{self._password}"
        for form in (b64encode(plain.encode()), b64encode(self._password.encode())):
            reason = reason.replace(form.decode(), _HIDDEN)
        return reason.replace(self._password, _HIDDEN)


def _own_name() -> str:
    """Returns the name in EHLO; the default would ask DNS, which may hang."""
    name = socket.gethostname()
    return name if "." in name else "[127.0.0.1]"


def _is_final(error: Exception) -> bool:
    """Returns whether the server refuses this very mail for good."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        [error] = error.recipients
    elif isinstance(error, aiosmtplib.SMTPNotSupported):
        return True  # An address beyond ASCII, and a server without SMTPUTF8.
    elif not isinstance(error, aiosmtplib.SMTPSenderRefused | aiosmtplib.SMTPDataError):
        return False
    return 500 <= error.code <= 599 and error.code not in _ABOUT_THE_SIGN_IN


def _reason(error: BaseException) -> str:
    """Returns a sentence for operators."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        [error] = error.recipients
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return f"the mail server answered {error.code} {error.message}"
    if isinstance(error, aiosmtplib.SMTPConnectError) and error.__cause__ is not None:
        return _reason(error.__cause__)
    if isinstance(error, aiosmtplib.SMTPException):
        return f"the mail server: {error.message}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the mail server's certificate is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS with the mail server failed: {error.reason}"
    if isinstance(error, OSError):
        why = error.strerror or str(error) or "timed out"
        if error.errno is not None and error.errno > 0:
            # asyncio replaces the system's text by its own, which contains the address.
            why = os.strerror(error.errno)
        return f"the mail server could not be reached: {why}"
    # The error's text would quote the mail.
    return f"the mail could not be put into SMTP ({type(error).__name__}): is SMTP_FROM an address?"
