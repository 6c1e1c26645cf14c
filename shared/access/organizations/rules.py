"""Rules for the slug and the name of an organization."""

import re
from uuid import UUID

from shared.foundation.core.errors import Invalid

DEFAULT_SLUG = "default"
# The hidden organization of the canary (`shared.intake.canary`). No other one can have such a slug.
CANARY_ID = UUID("00000000-0000-4000-8000-000063616e61")
CANARY_SLUG = "_canary"
RESERVED = frozenset({"api", "login", "admin", "ingest", "auth"})

_MAX_LENGTH = 40
_MAX_NAME_LENGTH = 200
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def require_slug(slug: str) -> None:
    """Raises `Invalid` unless `slug` is well formed and not reserved."""
    if len(slug) > _MAX_LENGTH or not _SLUG.fullmatch(slug):
        raise Invalid.field(
            "slug", "must have 1 to 40 characters of a-z and 0-9, with single hyphens between them"
        )
    if slug in RESERVED:
        raise Invalid.field("slug", f"{slug!r} is reserved")


def require_name(name: str) -> None:
    """Raises `Invalid` unless `name` has 1 to 200 printable characters."""
    if not name.strip() or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise Invalid.field("name", "must have 1 to 200 printable characters")
