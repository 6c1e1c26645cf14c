"""The messages of alert rules, which only tell workers to look."""

from shared.queue import Task

# Rules that are aggregated together, one organization at a time.
EVALUATE_ALERTS = Task(actor="evaluate_alerts", queue="alerts")
# Rules with SQL statements of people, one after the other.
EVALUATE_SQL_ALERTS = Task(actor="evaluate_sql_alerts", queue="alerts")
