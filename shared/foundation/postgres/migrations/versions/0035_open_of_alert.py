"""The index that allowed an alert one open incident: there is one for each of its groups."""

import sqlalchemy as sa

from shared.foundation.postgres.online import create_index, drop_index

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drops the index. Incidents without a group keep one from that of groups."""
    drop_index("uq_incidents_open_of_alert", "incidents")


def downgrade() -> None:
    """Creates it again."""
    create_index(
        "uq_incidents_open_of_alert",
        "incidents",
        ["alert_id"],
        unique=True,
        where=sa.text("state <> 'resolved'"),
    )
