"""A signed-in person, before the organization of the request is known."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from shared.access.organizations import DEFAULT_SLUG
from shared.access.users import Member, counted
from shared.foundation.core.errors import Forbidden, Invalid


@dataclass(frozen=True)
class Person:
    """A person with the active memberships that the request may use: at least one, by slug."""

    user_id: uuid.UUID
    email: str
    memberships: tuple[Member, ...]
    expires_at: datetime | None

    def member_of(self, org_slug: str | None, *, by_instance_key: bool = False) -> Member:
        """Returns the membership for the request.

        A request that names no organization is never for an invitation that waits, unless the
        person has nothing else. An instance key that names none acts for `default` if the person is
        a member of it. Raises `Forbidden` for an organization that the person does not belong to,
        which looks the same as one that does not exist. Raises `Invalid` if several are possible
        and none is named.
        """
        if org_slug is not None:
            return self._named(org_slug)
        own = counted(self.memberships)
        if by_instance_key and any(one.org_slug == DEFAULT_SLUG for one in own):
            return self._named(DEFAULT_SLUG)
        if len(own) > 1:
            raise Invalid(
                "this user is in several organizations: name one in X-Service-Org",
                code="org_required",
            )
        return own[0]

    def _named(self, slug: str) -> Member:
        for member in self.memberships:
            if member.org_slug == slug:
                return member
        raise Forbidden("this user is not a member of that organization", code="foreign_org")
