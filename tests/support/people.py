"""Members for the requests of a test: signed in, or represented by the admin key."""

import secrets
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from shared.access.permissions import ADMIN_SET
from shared.access.users import Membership, User, memberships_of
from shared.access.users.sign_in.sessions import open_session
from shared.foundation.cache import at_once
from shared.foundation.core.ids import new_id
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import ADMIN_KEY, Headers, bearer
from tests.support.runtime import Org


def new_email() -> str:
    """Returns an address that no other test uses."""
    return f"p{secrets.token_hex(6)}@example.com"


def add_member(
    runtime: Runtime,
    org: Org,
    *permissions: str,
    permission_set: str | None = None,
    email: str | None = None,
) -> UUID:
    """Adds a member with this set and these permissions, by default the set `admin`.

    Returns the account. If `email` has an account already, that account joins one more
    organization.
    """
    if not permissions and permission_set is None:
        permission_set = ADMIN_SET
    address = new_email() if email is None else email
    with at_once(runtime.postgres, runtime.redis) as session:
        session.execute(insert(User).values(id=new_id(), email=address).on_conflict_do_nothing())
        user_id = session.scalars(select(User.id).where(User.email == address)).one()
        session.add(
            Membership(
                org_id=org.uuid,
                user_id=user_id,
                permission_set=permission_set,
                permission_added=list(permissions),
                permission_removed=[],
            )
        )
    return user_id


def signed_in(runtime: Runtime, user_id: UUID, org_slug: str | None = None) -> Headers:
    """Returns the headers of a new session of this account, with its token as bearer."""
    with runtime.postgres.transaction() as session:
        members = memberships_of(session, user_id=user_id)
        token, _ = open_session(session, runtime.settings, members)
    return bearer(token, org_slug)


def new_member(
    runtime: Runtime,
    org: Org,
    *permissions: str,
    permission_set: str | None = None,
    email: str | None = None,
) -> Headers:
    """Returns the headers of a new signed-in member. The arguments are those of `add_member`.

    They name no organization, which is enough for a member of one.
    """
    user_id = add_member(runtime, org, *permissions, permission_set=permission_set, email=email)
    return signed_in(runtime, user_id)


def acting_as(email: str, org_slug: str | None = None) -> Headers:
    """Returns the headers of the instance's admin key that acts as a member."""
    return {**bearer(ADMIN_KEY, org_slug), "X-Service-Actor": email}
