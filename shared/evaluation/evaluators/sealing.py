"""Seals secrets with SECRETS_KEY, and opens them.

A sealed value belongs to its place: it does not open under another name or in another row.
"""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The first byte of what is stored.
_IN_CLEAR, _SEALED = b"\0", b"\1"
_NONCE_BYTES = 12
# Separates this use of the key from any other one.
_PURPOSE = b"watchpost/evaluator-secrets/"


class SecretBox:
    """Seals texts with a key, or keeps them in clear without one."""

    def __init__(self, key: str | None) -> None:
        digest = None if key is None else hashlib.sha256(_PURPOSE + key.encode()).digest()
        self._cipher = None if digest is None else AESGCM(digest)

    def seal(self, text: str, place: str) -> bytes:
        """Returns the bytes to store; `place` names the row and what it is bound to."""
        if self._cipher is None:
            return _IN_CLEAR + text.encode()
        nonce = os.urandom(_NONCE_BYTES)
        return _SEALED + nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())

    def open(self, stored: bytes, place: str) -> str | None:
        """Returns the text; None if it was sealed with another key or for another place."""
        if stored[:1] == _IN_CLEAR:
            return stored[1:].decode()
        if self._cipher is None:
            return None
        nonce, sealed = stored[1 : 1 + _NONCE_BYTES], stored[1 + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, place.encode()).decode()
        except InvalidTag:
            return None
