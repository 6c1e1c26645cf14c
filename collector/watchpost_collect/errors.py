"""The reasons why the collector stops, each with its exit status."""

from __future__ import annotations

OK, TROUBLE, USAGE, REFUSED, UNREACHABLE = range(5)


class CollectorError(Exception):
    """A run cannot go on. The text says what is wrong and what to do."""

    status = TROUBLE


class Locked(CollectorError):
    """Another process works with the same state."""


class UsageError(CollectorError):
    """A setting is missing or malformed."""

    status = USAGE


class CredentialRefused(CollectorError):
    """Watchpost answered 401 or 403."""

    status = REFUSED


class Unreachable(CollectorError):
    """No answer came that is Watchpost's, however often it was tried."""

    status = UNREACHABLE


class Unavailable(CollectorError):
    """Watchpost answered every try that it cannot take anything now."""


class Stopped(BaseException):
    """A signal asked the process to end. No handler of `Exception` may catch it."""
