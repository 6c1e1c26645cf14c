"""Grants audits to everybody with the matching permission for alerts; does not widen keys."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_GAIN = """
UPDATE {table} SET {column} = array_append({column}, :audits)
WHERE :alerts = ANY({column}) AND NOT :audits = ANY({column})
"""

# A member without alerts despite its set did not hold them. The audits that the set gains are
# removed too, unless the member was granted audits individually.
_STAY_WITHOUT = """
UPDATE memberships SET permission_removed = array_append(permission_removed, :audits)
WHERE :alerts = ANY(permission_removed)
    AND NOT :audits = ANY(permission_removed)
    AND NOT :audits = ANY(permission_added)
"""


def upgrade() -> None:
    """Widens members and custom sets; built-in sets are code and already contain audits."""
    for action in ("read", "write"):
        tokens = {"alerts": f"alerts:{action}", "audits": f"audits:{action}"}
        for statement in (
            _STAY_WITHOUT,
            _GAIN.format(table="memberships", column="permission_added"),
            _GAIN.format(table="permission_sets", column="permissions"),
        ):
            op.get_bind().execute(sa.text(statement), tokens)


def downgrade() -> None:
    """Does nothing: which audit grants came from this migration is no longer known."""
