"""The time until the next rule is due, and since when one waits."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.foundation.core.config import Settings
from shared.foundation.postgres import leases
from shared.foundation.postgres.due import secs_until_due

# One probe of the index for each organization.
_RULES = f"""
SELECT state.due_at
FROM organizations
CROSS JOIN LATERAL (
    SELECT due_at FROM alert_states
    WHERE is_sql = :is_sql AND org_id = organizations.id AND due_at IS NOT NULL AND {leases.FREE}
    ORDER BY due_at
    LIMIT 1
) AS state
WHERE organizations.deleted_at IS NULL
UNION ALL
SELECT min(lease_expires_at) FROM alert_states
WHERE is_sql = :is_sql AND due_at IS NOT NULL AND lease_expires_at > statement_timestamp()
"""


def of_rules(session: Session, _settings: Settings, *, is_sql: bool) -> float | None:
    """Returns the seconds until a rule is due; None if there is none."""
    return secs_until_due(session, _RULES, is_sql=is_sql)


_LATEST = text(f"""
SELECT extract(epoch FROM statement_timestamp() - min(state.due_at))
FROM alert_states AS state JOIN organizations ON organizations.id = state.org_id
WHERE state.due_at <= statement_timestamp() AND {leases.FREE}
    AND organizations.deleted_at IS NULL
""")


def longest_due_secs(session: Session) -> float:
    """Returns the seconds for which a rule has been due at most; 0.0 if none is."""
    return float(session.scalar(_LATEST) or 0.0)
