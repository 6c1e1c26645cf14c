"""A signed-in person, before the organization of the request is known."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from shared.core.errors import Forbidden, Invalid
from shared.organizations import DEFAULT_SLUG
from shared.users import Member


@dataclass(frozen=True)
class Person:
    """A person with the active memberships that the request may use: at least one, by slug."""

    user_id: uuid.UUID
    email: str
    memberships: tuple[Member, ...]
    expires_at: datetime | None

    def member_of(self, org_slug: str | None, *, by_instance_key: bool = False) -> Member:
        """Returns the membership for the request.

        An instance key that names no organization acts for `default` if the person is a member of
        it. Raises `Forbidden` for an organization that the person does not belong to, which looks
        the same as one that does not exist. Raises `Invalid` if several are possible and none is
        named.
        """
        wanted = org_slug
        if wanted is None and by_instance_key and self._find(DEFAULT_SLUG) is not None:
            wanted = DEFAULT_SLUG
        if wanted is None:
            if len(self.memberships) > 1:
                raise Invalid(
                    "this user is in several organizations: name one in X-Service-Org",
                    code="org_required",
                )
            return self.memberships[0]
        member = self._find(wanted)
        if member is None:
            raise Forbidden("this user is not a member of that organization", code="foreign_org")
        return member

    def _find(self, slug: str) -> Member | None:
        return next((one for one in self.memberships if one.org_slug == slug), None)
