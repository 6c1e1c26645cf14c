"""What a key's name and secret may be, and how a secret is kept."""

import hashlib
import re
import secrets
from datetime import datetime

from shared.core.clock import now
from shared.core.errors import Invalid

DEFAULT_PERMISSIONS = ("events:add",)

_MAX_NAME_LENGTH = 100
# What a header carries unchanged: visible ASCII. A space or an umlaut would make a key that no
# client can present.
_SECRET = re.compile(r"[\x21-\x7e]{16,256}")


def hash_secret(secret: bytes) -> bytes:
    """The 32 bytes that are stored; a plain SHA-256, for secrets that are random to begin with."""
    return hashlib.sha256(secret).digest()


def new_secret() -> str:
    """A fresh secret of 256 random bits."""
    return f"wp_{secrets.token_urlsafe(32)}"


def require_name(name: str) -> None:
    """Raises `Invalid` naming `name`."""
    if not 1 <= len(name) <= _MAX_NAME_LENGTH or not name.isprintable() or not name.strip():
        raise Invalid.field("name", "must have 1 to 100 printable characters")


def require_secret(secret: str) -> None:
    """Raises `Invalid` naming `key`; the secret itself is not repeated."""
    if not _SECRET.fullmatch(secret):
        raise Invalid.field("key", "must have 16 to 256 visible ASCII characters")


def require_future(expires_at: datetime | None) -> None:
    """Raises `Invalid` naming `expires_at` when the key would be dead from its start."""
    if expires_at is not None and expires_at <= now():
        raise Invalid.field("expires_at", "must be in the future")
