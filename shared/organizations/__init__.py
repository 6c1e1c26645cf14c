"""Organizations: the tenants of a deployment."""

from shared.organizations.models import Organization
from shared.organizations.rules import CANARY_ID, CANARY_SLUG, DEFAULT_SLUG
from shared.organizations.service import (
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
