"""Rules for the name and the secret of a key, and the hash of a secret."""

import hashlib
import re
import secrets
from datetime import datetime

from shared.foundation.core.clock import now
from shared.foundation.core.config import is_placeholder
from shared.foundation.core.errors import Invalid

DEFAULT_PERMISSIONS = ("events:add",)

_MAX_NAME_LENGTH = 100
# Visible ASCII passes through a header unchanged. With a space or an umlaut no client could present
# the key.
_SECRET = re.compile(r"[\x21-\x7e]{16,256}")


def hash_secret(secret: bytes) -> bytes:
    """Hashes a secret to the 32 bytes to store; plain SHA-256 suffices for random secrets."""
    return hashlib.sha256(secret).digest()


def new_secret() -> str:
    """Creates a secret of 256 random bits."""
    return f"wp_{secrets.token_urlsafe(32)}"


def require_name(name: str) -> None:
    """Raises `Invalid` naming `name`."""
    if not 1 <= len(name) <= _MAX_NAME_LENGTH or not name.isprintable() or not name.strip():
        raise Invalid.field("name", "must have 1 to 100 printable characters")


def require_secret(secret: str) -> None:
    """Raises `Invalid` naming `key`; the message does not repeat the secret."""
    if not _SECRET.fullmatch(secret):
        raise Invalid.field("key", "must have 16 to 256 visible ASCII characters")
    if is_placeholder(secret):
        raise Invalid.field("key", "is the value of an example: choose a random one")


def require_future(expires_at: datetime | None) -> None:
    """Raises `Invalid` naming `expires_at` if the key would already be expired."""
    if expires_at is not None and expires_at <= now():
        raise Invalid.field("expires_at", "must be in the future")
