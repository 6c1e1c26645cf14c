"""Sign-in data in PostgreSQL: hashes of codes and tokens, never the originals."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Base, created_at_column, timestamp_type


class SignInCode(Base):
    """The one valid code of an address; the row is deleted when the code is used or replaced."""

    __tablename__ = "sign_in_codes"

    email: Mapped[str] = mapped_column(primary_key=True)
    salt: Mapped[bytes] = mapped_column(LargeBinary)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary)
    wrong_tries: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime] = mapped_column(timestamp_type)


class SignInGuesses(Base):
    """The wrong codes of an address in the last 24 hours, fewer than `guesses.MAX_TRIES`.

    Until `long_until` its codes have twelve letters. `is_told`: the audit logs have the line.
    """

    __tablename__ = "sign_in_guesses"

    email: Mapped[str] = mapped_column(primary_key=True)
    tried_at: Mapped[list[datetime]] = mapped_column(ARRAY(timestamp_type))
    long_until: Mapped[datetime | None] = mapped_column(timestamp_type)
    is_told: Mapped[bool] = mapped_column(server_default=text("false"))
    expires_at: Mapped[datetime] = mapped_column(timestamp_type, index=True)


class SignInSession(Base):
    """A signed-in person; `token_hash` is the SHA-256 of the cookie's random token.

    `address` and `browser` are those of the sign-in, as far as they are known. `last_used_at` is
    minutes behind (`sessions.py`); null: not used since the sign-in. `used_in` are the
    organizations that the session was used in; null: opened by a release that did not note them.
    """

    __tablename__ = "sign_in_sessions"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    user_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[datetime] = created_at_column()
    expires_at: Mapped[datetime] = mapped_column(timestamp_type, index=True)
    last_used_at: Mapped[datetime | None] = mapped_column(timestamp_type)
    used_in: Mapped[list[uuid.UUID] | None] = mapped_column(ARRAY(Uuid))
    address: Mapped[str | None]
    browser: Mapped[str | None]
