"""Organizations: the tenants of a deployment."""

from shared.organizations.models import Organization
from shared.organizations.rules import DEFAULT_SLUG
from shared.organizations.service import all_live, create, get, hold, list_

__all__ = ["DEFAULT_SLUG", "Organization", "all_live", "create", "get", "hold", "list_"]
