"""Who could read or write alerts may now read or write audits; keys are not widened."""

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

# Somebody from whom alerts were taken did not hold them, so the audits that a set gains are taken
# too, unless audits were given to that very person.
_STAY_WITHOUT = """
UPDATE memberships SET permission_removed = array_append(permission_removed, :audits)
WHERE :alerts = ANY(permission_removed)
    AND NOT :audits = ANY(permission_removed)
    AND NOT :audits = ANY(permission_added)
"""


def upgrade() -> None:
    """Widens members and custom sets; built-in sets are code and have audits already."""
    for action in ("read", "write"):
        tokens = {"alerts": f"alerts:{action}", "audits": f"audits:{action}"}
        for statement in (
            _STAY_WITHOUT,
            _GAIN.format(table="memberships", column="permission_added"),
            _GAIN.format(table="permission_sets", column="permissions"),
        ):
            op.get_bind().execute(sa.text(statement), tokens)


def downgrade() -> None:
    """Nothing: which audit grants came from here cannot be told any more."""
