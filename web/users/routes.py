"""Users: the members of the organization and their permissions."""

from typing import Any

from sqlalchemy.orm import Session

from shared.access import users
from shared.access.permissions import require_known
from shared.access.users import Grant, Granter, MemberRecord
from shared.foundation.cache import at_once
from web.auth import (
    current_identity,
    current_org_id,
    current_user,
    requires,
    requires_identity,
    requires_member,
)
from web.blueprint import Blueprint
from web.state import runtime
from web.users.schemas import AccessGranter, GrantBody, InvitationBody, UserDefaults, UserRow

blueprint = Blueprint("users", "Members of the organization")


@blueprint.route("/users")
@requires("users:read")
@blueprint.response(200, UserRow(many=True))
def list_users() -> list[MemberRecord]:
    """List the organization's users by address, including disabled ones."""
    with runtime().postgres.transaction() as session:
        return users.list_(session, current_org_id())


@blueprint.route("/users", methods=["POST"])
@requires("users:create")
@blueprint.arguments(InvitationBody)
@blueprint.grants
@blueprint.response(201, UserRow, errors=(409, 429))
def invite_user(body: dict[str, Any]) -> MemberRecord:
    """Invite a user. The user is notified by mail and signs in with a code.

    The caller can only grant permissions that it holds itself.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        grant = _invited_to(session, body)
        config = runtime().settings
        org_id, email = current_org_id(), body["email"]
        return users.invite(session, runtime().queue, config, org_id, email, grant, _granter())


@blueprint.route("/users/defaults")
@requires("users:create")
@blueprint.response(200, UserDefaults)
def get_user_defaults() -> dict[str, Any]:
    """Read the permissions that an invitation grants by default."""
    with runtime().postgres.transaction() as session:
        found = users.default_set(session, runtime().settings, current_org_id())
    return {"permission_set": found.name, "permissions": found.permissions}


@blueprint.route("/users/<user_id>")
@requires("users:read")
@blueprint.response(200, UserRow)
def get_user(user_id: str) -> MemberRecord:
    """Read one user."""
    with runtime().postgres.transaction() as session:
        return users.get(session, current_org_id(), user_id)


@blueprint.route("/users/<user_id>", methods=["PUT"])
@requires("users:update")
@blueprint.arguments(GrantBody)
@blueprint.grants
@blueprint.response(200, UserRow, errors=(409,))
def update_user(grant: Grant, user_id: str) -> MemberRecord:
    """Replace a user's permissions, from the user's next request on.

    The caller can only grant permissions that it holds itself. A mail tells the user the changes.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        return users.replace(
            session,
            runtime().queue,
            runtime().settings,
            current_org_id(),
            user_id,
            grant,
            _granter(),
        )


@blueprint.route("/users/<user_id>", methods=["DELETE"])
@requires("users:delete")
@blueprint.response(200, UserRow, errors=(409,))
def disable_user(user_id: str) -> MemberRecord:
    """Disable a user and sign the user out of this organization. The record is kept."""
    with at_once(runtime().postgres, runtime().redis) as session:
        return users.disable(session, current_org_id(), user_id)


@blueprint.route("/users/me", methods=["DELETE"])
@requires_member
@blueprint.response(200, UserRow, errors=(409,))
def leave_organization() -> MemberRecord:
    """Leave the organization. The signed-in user's memberships of others stay.

    The only user who can manage the others, and protected users, cannot leave.
    """
    with at_once(runtime().postgres, runtime().redis) as session:
        return users.leave(session, current_org_id(), current_user().id)


@blueprint.route("/users/<user_id>/enable", methods=["POST"])
@requires("users:delete")
@blueprint.response(200, UserRow, errors=(409,))
def enable_user(user_id: str) -> MemberRecord:
    """Give a disabled user its permissions back. The user has to sign in again."""
    with at_once(runtime().postgres, runtime().redis) as session:
        return users.enable(session, current_org_id(), user_id)


@blueprint.route("/access-granters")
@requires_identity
@blueprint.response(200, AccessGranter(many=True))
def list_access_granters() -> list[dict[str, str]]:
    """List up to 50 active users with `users:update`, who can grant more permissions."""
    with runtime().postgres.transaction() as session:
        return [{"email": email} for email in users.access_granters(session, current_org_id())]


def _invited_to(session: Session, body: dict[str, Any]) -> Grant:
    """Returns the grant of an invitation. Without a set and permissions it is the default set."""
    legacy = body.get("permissions")
    require_known(legacy or ())
    permission_set: str | None = body.get("permission_set")
    if legacy is None and "permission_set" not in body:
        permission_set = users.default_set(session, runtime().settings, current_org_id()).name
    return Grant(
        permission_set=permission_set,
        added=[*(legacy or ()), *body["permission_added"]],
        removed=body["permission_removed"],
    )


def _granter() -> Granter:
    identity = current_identity()
    return Granter(identity.name, identity.permissions, is_key=identity.user is None)
