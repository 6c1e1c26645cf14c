"""The open incident of each group of an alert."""

import sqlalchemy as sa

from shared.foundation.postgres.online import create_index, drop_index

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_GROUP = "coalesce(breach_group::text, '')"


def upgrade() -> None:
    """Creates the index."""
    create_index(
        "uq_incidents_open_of_group",
        "incidents",
        ["alert_id", sa.text(_GROUP)],
        unique=True,
        where=sa.text(f"state <> 'resolved' AND {_GROUP} NOT LIKE '%[deleted]%'"),
    )


def downgrade() -> None:
    """Drops it."""
    drop_index("uq_incidents_open_of_group", "incidents")
