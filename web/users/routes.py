"""Users: the members of the organization and their permissions."""

from typing import Any

from shared.access import users
from shared.access.permissions import require_known
from shared.access.users import Grant, Granter, MemberRecord
from web.auth import (
    current_identity,
    current_user,
    requires,
    requires_identity,
    requires_member,
)
from web.blueprint import Blueprint
from web.state import runtime
from web.transaction import Tx, in_transaction, in_transaction_at_once
from web.users.schemas import AccessGranter, GrantBody, InvitationBody, UserDefaults, UserRow

blueprint = Blueprint("users", "Members of the organization")


@blueprint.route("/users")
@requires("users:read")
@blueprint.response(200, UserRow(many=True))
@in_transaction
def list_users(tx: Tx) -> list[MemberRecord]:
    """List the organization's users by address, including disabled ones."""
    return users.list_(*tx)


@blueprint.route("/users", methods=["POST"])
@requires("users:create")
@blueprint.arguments(InvitationBody)
@blueprint.grants
@blueprint.response(201, UserRow, errors=(409, 429))
@in_transaction_at_once
def invite_user(tx: Tx, body: dict[str, Any]) -> MemberRecord:
    """Invite a user. The user is notified by mail and signs in with a code.

    The caller can only grant permissions that it holds itself.
    """
    grant = _invited_to(tx, body)
    queue, config = runtime().queue, runtime().settings
    return users.invite(tx.session, queue, config, tx.org_id, body["email"], grant, _granter())


@blueprint.route("/users/defaults")
@requires("users:create")
@blueprint.response(200, UserDefaults)
@in_transaction
def get_user_defaults(tx: Tx) -> dict[str, Any]:
    """Read the permissions that an invitation grants by default."""
    found = users.default_set(tx.session, runtime().settings, tx.org_id)
    return {"permission_set": found.name, "permissions": found.permissions}


@blueprint.route("/users/<user_id>")
@requires("users:read")
@blueprint.response(200, UserRow)
@in_transaction
def get_user(tx: Tx, user_id: str) -> MemberRecord:
    """Read one user."""
    return users.get(*tx, user_id)


@blueprint.route("/users/<user_id>", methods=["PUT"])
@requires("users:update")
@blueprint.arguments(GrantBody)
@blueprint.grants
@blueprint.response(200, UserRow, errors=(409,))
@in_transaction_at_once
def update_user(tx: Tx, grant: Grant, user_id: str) -> MemberRecord:
    """Replace a user's permissions, from the user's next request on.

    The caller can only grant permissions that it holds itself. A mail tells the user the changes.
    """
    return users.replace(
        tx.session, runtime().queue, runtime().settings, tx.org_id, user_id, grant, _granter()
    )


@blueprint.route("/users/<user_id>", methods=["DELETE"])
@requires("users:delete")
@blueprint.response(200, UserRow, errors=(409,))
@in_transaction_at_once
def disable_user(tx: Tx, user_id: str) -> MemberRecord:
    """Disable a user and sign the user out of this organization. The record is kept."""
    return users.disable(*tx, user_id)


@blueprint.route("/users/me", methods=["DELETE"])
@requires_member
@blueprint.response(200, UserRow, errors=(409,))
@in_transaction_at_once
def leave_organization(tx: Tx) -> MemberRecord:
    """Leave the organization. The signed-in user's memberships of others stay.

    The only user who can manage the others, and protected users, cannot leave.
    """
    return users.leave(*tx, current_user().id)


@blueprint.route("/users/<user_id>/enable", methods=["POST"])
@requires("users:delete")
@blueprint.response(200, UserRow, errors=(409,))
@in_transaction_at_once
def enable_user(tx: Tx, user_id: str) -> MemberRecord:
    """Give a disabled user its permissions back. The user has to sign in again."""
    return users.enable(*tx, user_id)


@blueprint.route("/access-granters")
@requires_identity
@blueprint.response(200, AccessGranter(many=True))
@in_transaction
def list_access_granters(tx: Tx) -> list[dict[str, str]]:
    """List up to 50 active users with `users:update`, who can grant more permissions."""
    return [{"email": email} for email in users.access_granters(*tx)]


def _invited_to(tx: Tx, body: dict[str, Any]) -> Grant:
    """Returns the grant of an invitation. Without a set and permissions it is the default set."""
    legacy = body.get("permissions")
    require_known(legacy or ())
    permission_set: str | None = body.get("permission_set")
    if legacy is None and "permission_set" not in body:
        permission_set = users.default_set(tx.session, runtime().settings, tx.org_id).name
    return Grant(
        permission_set=permission_set,
        added=[*(legacy or ()), *body["permission_added"]],
        removed=body["permission_removed"],
    )


def _granter() -> Granter:
    identity = current_identity()
    return Granter(identity.name, identity.permissions, is_key=identity.user is None)
