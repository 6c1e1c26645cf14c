"""Organizations: the tenants of a deployment."""

from shared.access.organizations.models import Organization
from shared.access.organizations.rules import CANARY_ID, CANARY_SLUG, DEFAULT_SLUG
from shared.access.organizations.service import (
    all_live,
    create,
    ensure_canary,
    get,
    hold,
    hold_alone,
    list_,
)

__all__ = [
    "CANARY_ID",
    "CANARY_SLUG",
    "DEFAULT_SLUG",
    "Organization",
    "all_live",
    "create",
    "ensure_canary",
    "get",
    "hold",
    "hold_alone",
    "list_",
]
