"""The time until the next rule is due."""

from sqlalchemy.orm import Session

from shared.core.config import Settings
from shared.postgres import leases
from shared.postgres.due import secs_until_due

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
