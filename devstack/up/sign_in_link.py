"""The link that signs the development administrator in, once."""

import hashlib
import secrets
import time

LIFE_SECONDS = 3600


class SignInLink:
    """A new link. `web` gets only the hash of its token, which begins with its end."""

    def __init__(self) -> None:
        expires_at = int(time.time()) + LIFE_SECONDS
        self._token = f"{expires_at}.{secrets.token_urlsafe(32)}"

    @property
    def hash(self) -> str:
        """Returns the value of SIGN_IN_LINK_HASH."""
        return hashlib.sha256(self._token.encode()).hexdigest()

    def at(self, origin: str) -> str:
        """Returns the URL."""
        return f"{origin}/development/sign-in/{self._token}"
