"""The failures that end a command; each has an exit status."""

from __future__ import annotations


class KitError(Exception):
    """A failure that its message explains, with what to do about it."""

    status = 1


class UsageError(KitError):
    """An option, a setting or a module is missing or wrong."""

    status = 2


class CredentialRefused(KitError):
    """Watchpost refuses the key or the token."""

    status = 3


class Unreachable(KitError):
    """No answer of Watchpost's arrived."""

    status = 4


class BadSession(KitError, ValueError):
    """A file or a body is no session; the text names the field."""
