"""Errors that people may read, each with a status and a stable code.

Raise these anywhere in `shared`. The web tier turns them into the one error body; workers log them.
Any other exception is a defect, and a client only gets a 500 without its text.
"""

from collections.abc import Mapping, Sequence

from shared.foundation.core.text import storable

# An id is at most as long; a longer one in a path is nobody's.
_SHOWN_CHARS = 256


class ConfigurationError(Exception):
    """A missing or invalid variable at the start of a process; the message names it."""


class WatchpostError(Exception):
    """The base of all errors fit for users: `message` is a sentence, `code` a stable slug."""

    status = 500
    code = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retry_after_secs: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.retry_after_secs = retry_after_secs


class BadRequest(WatchpostError):
    """The body does not match its headers."""

    status, code = 400, "bad_request"


class Unauthorized(WatchpostError):
    """The credential is missing, unknown, disabled or expired."""

    status, code = 401, "unauthorized"


class Forbidden(WatchpostError):
    """The identity is valid but may not do this; names the permission if one is missing."""

    status, code = 403, "forbidden"

    def __init__(
        self, message: str, *, code: str | None = None, required_permission: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.required_permission = required_permission


class NotFound(WatchpostError):
    """The resource is missing, malformed or of another organization; all three look the same."""

    status, code = 404, "not_found"

    @classmethod
    def named(cls, what: str, name: object, *, code: str | None = None) -> "NotFound":
        """Creates the error for the id or name that was asked for, of which it shows the start."""
        asked = str(name)
        shown = storable(asked, _SHOWN_CHARS) + ("…" if len(asked) > _SHOWN_CHARS else "")
        return cls(f'there is no {what} "{shown}"', code=code)


class Conflict(WatchpostError):
    """The state of the resource does not allow this, or the name is taken."""

    status, code = 409, "conflict"


class TooLarge(WatchpostError):
    """The body is larger than the limit the message names."""

    status, code = 413, "too_large"


class UnsupportedMediaType(WatchpostError):
    """The route does not read this content type or encoding."""

    status, code = 415, "unsupported_media_type"


class Invalid(WatchpostError):
    """Some field values cannot be accepted: `fields` maps each field to its reasons."""

    status, code = 422, "invalid"

    def __init__(
        self,
        message: str,
        *,
        fields: Mapping[str, Sequence[str]] | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.fields = {name: list(reasons) for name, reasons in (fields or {}).items()}

    @classmethod
    def field(cls, name: str, reason: str) -> "Invalid":
        """Creates the error for one field with one reason."""
        return cls(f"{name}: {reason}", fields={name: [reason]})


class QueryFailed(WatchpostError):
    """The database refused a statement; `detail` is its message without the stack trace."""

    status, code = 422, "query_failed"

    def __init__(self, message: str, *, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


class RateLimited(WatchpostError):
    """Too many requests; the client may try again after `retry_after_secs`."""

    status, code = 429, "rate_limited"


class Unavailable(WatchpostError):
    """A store is down or the backlog is full; nothing was accepted."""

    status, code = 503, "unavailable"

    def __init__(self, message: str, *, code: str | None = None, retry_after_secs: int = 5) -> None:
        super().__init__(message, code=code, retry_after_secs=retry_after_secs)


class QueryTimeout(WatchpostError):
    """A query ran longer than its limit."""

    status, code = 504, "query_timeout"
