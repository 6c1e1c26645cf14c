"""Every message between processes. All of them only say "look for work", and carry no data.

A queue has threads of its own, so work that hangs delays no other: calls to the evaluator, mail and
deliveries wait for servers of other people, alerts and audits for long statements.
"""

from shared.foundation.queue.tasks import Task

PERSIST_EVENTS = Task(actor="persist_events", queue="ingest")
# Turns the records of OpenTelemetry into events for the stream above.
ASSIGN_RECORDS = Task(actor="place_records", queue="placing")
TIDY_STREAMS = Task(actor="tidy_streams", queue="background")

RUN_EVALUATIONS = Task(actor="run_evaluations", queue="evaluator")
CHECK_WATCHED_SESSIONS = Task(actor="check_watched_sessions", queue="background")
SCAN_INACTIVE_SESSIONS = Task(actor="scan_inactive_sessions", queue="background")
STORE_EVALUATIONS = Task(actor="store_evaluations", queue="background")
# Runs of organizations' own evaluators: made when a session ended or is idle, then called.
TRIGGER_RUNS = Task(actor="trigger_runs", queue="background")
CALL_EVALUATORS = Task(actor="call_evaluators", queue="evaluator")
REFRESH_EVALUATOR_CONFIG = Task(actor="refresh_evaluator_config", queue="background")

# Rules that are aggregated together, one organization at a time.
EVALUATE_ALERTS = Task(actor="evaluate_alerts", queue="alerts")
# Rules with SQL statements of people, one after the other.
EVALUATE_SQL_ALERTS = Task(actor="evaluate_sql_alerts", queue="alerts")
SEND_NOTIFICATIONS = Task(actor="send_notifications", queue="notifications")
TIDY_NOTIFICATIONS = Task(actor="tidy_notifications", queue="notifications")

# Due audits are queued even while all threads of audits are busy with runs.
SCHEDULE_AUDITS = Task(actor="schedule_audits", queue="background")
RUN_AUDITS = Task(actor="run_audits", queue="audits")

# Calls whose costs are computed again.
REPRICE_CALLS = Task(actor="reprice_calls", queue="repricings")

# Files that organizations get every hour or day.
WRITE_EXPORTS = Task(actor="write_exports", queue="exports")

# Turns of the assistant wait for language models.
ANSWER_QUESTIONS = Task(actor="answer_questions", queue="assistant")
TIDY_ASSISTANT = Task(actor="tidy_assistant", queue="background")

SEND_MAIL = Task(actor="send_mail", queue="mail")
TIDY_MAILS = Task(actor="tidy_mails", queue="mail")

FLUSH_RECEIPTS = Task(actor="flush_receipts", queue="background")
TIDY_RECEIPTS = Task(actor="tidy_receipts", queue="background")

# Deletions that people asked for.
DELETE_DATA = Task(actor="delete_data", queue="background")
SWEEP_PURGED = Task(actor="sweep_purged", queue="background")
APPLY_RETENTION = Task(actor="apply_retention", queue="background")
TIDY_AUDIT_LOG = Task(actor="tidy_audit_log", queue="background")
TIDY_SIGN_IN = Task(actor="tidy_sign_in", queue="background")
