"""The messages of alert rules; both only say "look"."""

from shared.queue import Task

# Rules whose kinds are added up together, an organization at a time.
EVALUATE_ALERTS = Task(actor="evaluate_alerts", queue="alerts")
# Rules that are statements of people's own, one after the other.
EVALUATE_SQL_ALERTS = Task(actor="evaluate_sql_alerts", queue="alerts")
