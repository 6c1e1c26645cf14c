"""Errors that people may read, each with a status and a stable code.

Raise these anywhere in `shared`; the web tier turns them into the one error body, workers log
them. Anything else that is raised is a defect and reaches a client only as a 500 without text.
"""

from collections.abc import Mapping, Sequence


class ConfigurationError(Exception):
    """A process was started with a missing or bad variable; the message names it."""


class WatchpostError(Exception):
    """Base of all errors fit for users: `message` is a sentence, `code` a stable slug."""

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
    """The body is not what its headers announce."""

    status, code = 400, "bad_request"


class Unauthorized(WatchpostError):
    """No credential, or none that is known, enabled and unexpired."""

    status, code = 401, "unauthorized"


class Forbidden(WatchpostError):
    """A valid identity that may not do this; names the permission when one is missing."""

    status, code = 403, "forbidden"

    def __init__(
        self, message: str, *, code: str | None = None, required_permission: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.required_permission = required_permission


class NotFound(WatchpostError):
    """Missing, malformed, or another organization's: the three are not told apart."""

    status, code = 404, "not_found"


class Conflict(WatchpostError):
    """The resource is in a state that rules this out, or the name is taken."""

    status, code = 409, "conflict"


class TooLarge(WatchpostError):
    """The body is larger than the limit the message names."""

    status, code = 413, "too_large"


class UnsupportedMediaType(WatchpostError):
    """A content type or encoding this route does not read."""

    status, code = 415, "unsupported_media_type"


class Invalid(WatchpostError):
    """Field values that cannot be accepted: `fields` maps each to its reasons."""

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
        """One field, one reason."""
        return cls(f"{name}: {reason}", fields={name: [reason]})


class QueryFailed(WatchpostError):
    """A statement that the database refused; `detail` is what it said, up to its stack trace."""

    status, code = 422, "query_failed"

    def __init__(self, message: str, *, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


class RateLimited(WatchpostError):
    """Too many requests; the client may try again after `retry_after_secs`."""

    status, code = 429, "rate_limited"


class Unavailable(WatchpostError):
    """A store is down or the backlog is full; nothing was taken."""

    status, code = 503, "unavailable"

    def __init__(self, message: str, *, code: str | None = None, retry_after_secs: int = 5) -> None:
        super().__init__(message, code=code, retry_after_secs=retry_after_secs)


class QueryTimeout(WatchpostError):
    """A query ran longer than its limit."""

    status, code = 504, "query_timeout"
