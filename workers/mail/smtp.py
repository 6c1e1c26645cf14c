"""One mail to the mail server, which may hang, drip or refuse: none of it outlasts a deadline."""

import smtplib
import socket
import ssl
from base64 import b64encode
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr
from enum import Enum

from shared.config import Settings
from workers.mail.deadline import Deadline

_IMPLICIT_TLS_PORT = 465

# "Sign in first", "too weak", "wrong password", "use TLS": it is the deployment that is to be
# corrected, and the mails that wait for that are not to blame.
_ABOUT_THE_SIGN_IN = frozenset({530, 534, 535, 538})

_HIDDEN = "[hidden]"


class Refused(Exception):
    """The mail server will never take this mail."""


class NotSent(Exception):
    """The mail was not taken, and may be at another time."""


class Security(Enum):
    """How the connection is protected."""

    NONE = "none"
    STARTTLS = "starttls"
    IMPLICIT = "implicit"

    @classmethod
    def of(cls, settings: Settings) -> "Security":
        """What SMTP_TLS and SMTP_PORT say."""
        if not settings.smtp_tls:
            return cls.NONE
        return cls.IMPLICIT if settings.smtp_port == _IMPLICIT_TLS_PORT else cls.STARTTLS


@dataclass(frozen=True)
class Limits:
    """Seconds: of one wait for the mail server, and of the whole exchange."""

    wait_secs: float = 15.0
    exchange_secs: float = 60.0


DEFAULT_LIMITS = Limits()


class SmtpClient:
    """Sends through the mail server of the settings, on a connection a mail; thread-safe."""

    def __init__(
        self,
        settings: Settings,
        *,
        security: Security | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        if settings.smtp_host is None or settings.smtp_from is None:
            raise ValueError("there is no mail server to send through")
        self._host, self._port = settings.smtp_host, settings.smtp_port
        self._username, self._password = settings.smtp_username, settings.smtp_password or ""
        self._security = Security.of(settings) if security is None else security
        self._sender = parseaddr(settings.smtp_from)[1]
        self.limits = limits
        # Trusts the certificates of the system, or those that SSL_CERT_FILE names.
        self._tls = ssl.create_default_context()

    def send(self, message: EmailMessage, recipient: str) -> None:
        """Returns once the mail server has the mail. Raises `Refused` or `NotSent`.

        What they say may quote the mail server and what it quotes, but never the password.
        """
        with Deadline(self.limits.exchange_secs) as deadline:
            try:
                self._exchange(message, recipient, deadline)
            except (OSError, ValueError) as error:
                reason = self._without_password(_reason(error))
                if _is_final(error):
                    raise Refused(reason) from None
                if deadline.passed:
                    secs = self.limits.exchange_secs
                    reason = f"the mail server did not come to an end within {secs:g} s"
                raise NotSent(reason) from None

    def _exchange(self, message: EmailMessage, recipient: str, deadline: Deadline) -> None:
        tls = self._tls if self._security is Security.IMPLICIT else None
        with closing(_Connection(self._host, self._port, self.limits, deadline, tls)) as connection:
            if self._security is Security.STARTTLS:
                connection.starttls(context=self._tls)
            if self._username is not None:
                connection.login(self._username, self._password)
            try:
                connection.send_message(message, self._sender, [recipient])
            except smtplib.SMTPNotSupportedError as error:
                # An address beyond ASCII, and a server that knows no such thing.
                raise Refused(f"the mail server: {error}") from None
            if deadline.passed:  # Half an answer is none, even where it began well.
                raise TimeoutError("timed out")
            # The mail is theirs now, whatever becomes of the good-bye.
            with suppress(OSError):
                connection.quit()

    def _without_password(self, reason: str) -> str:
        if not self._password:
            return reason
        plain = f"\0{self._username}\0{self._password}"
        for form in (b64encode(plain.encode()), b64encode(self._password.encode())):
            reason = reason.replace(form.decode(), _HIDDEN)
        return reason.replace(self._password, _HIDDEN)


class _Connection(smtplib.SMTP):
    """A connection under a deadline, with TLS from the first byte on where `tls` is given."""

    def __init__(
        self,
        host: str,
        port: int,
        limits: Limits,
        deadline: Deadline,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._deadline = deadline
        self._implicit_tls = tls
        super().__init__(host, port, _own_name(), timeout=limits.wait_secs)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """What the base opens its connection with, as `smtplib.SMTP_SSL` does too."""
        plain = self._deadline.connect(host, port, wait_secs=timeout)
        if self._implicit_tls is None:
            return plain
        return self._implicit_tls.wrap_socket(plain, server_hostname=host)


def _own_name() -> str:
    """What we call ourselves; the default would ask DNS, which may hang."""
    name = socket.gethostname()
    return name if "." in name else "[127.0.0.1]"


def _is_final(error: OSError | ValueError) -> bool:
    """Whether it is this mail that the server does not want, now and always."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    elif isinstance(error, smtplib.SMTPSenderRefused | smtplib.SMTPDataError):
        codes = [error.smtp_code]
    else:
        return False
    return all(500 <= code <= 599 and code not in _ABOUT_THE_SIGN_IN for code in codes)


def _reason(error: OSError | ValueError) -> str:
    """A sentence for operators."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        [(code, answer)] = error.recipients.values()
        return _answered(code, answer)
    if isinstance(error, smtplib.SMTPResponseException):
        return _answered(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPException):
        return f"the mail server: {error}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the mail server's certificate is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS with the mail server failed: {error.reason}"
    if isinstance(error, OSError):
        return f"the mail server could not be reached: {error.strerror or error}"
    # Its text would quote a part of what was to be sent, perhaps of the password.
    return f"the mail server cannot be told so ({type(error).__name__}): is the sign-in ASCII?"


def _answered(code: int, answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return f"the mail server answered {code} {text}"
