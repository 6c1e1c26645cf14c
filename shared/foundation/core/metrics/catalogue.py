"""All metrics. Run as a program, this module prints the table of docs/run/operate.md.

No label has a value that a client chooses: routes are templates, an evaluator is the host that the
operator configured, everything else is a closed set. Organizations never appear.
"""

import sys

from shared.foundation.core.channels import OVER_HTTP
from shared.foundation.core.metrics.kinds import (
    OTHER,
    ROWS,
    SLOW,
    Counter,
    Gauge,
    Histogram,
    Metric,
)

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", OTHER)
_WAYS = ("events", "import", "otlp_http", "otlp_grpc", OTHER)
_REFUSALS = (
    "backlog_full",
    "redis_unavailable",
    "postgres_unavailable",
    "clickhouse_unavailable",
    OTHER,
)
_POOLS = ("postgres", "clickhouse", "sql", OTHER)
_STORES = ("postgres", "clickhouse", "redis")
_JOB_STATES = ("pending", "polling", "storing")
_SENDING = ("sent", "again", "failed", "forgotten", "expired", OTHER)

# Requests
REQUESTS = Counter(
    "watchpost_http_requests_total",
    "requests; a path without a route counts as `none`",
    {"method": _METHODS, "route": None, "status": None},
)
REQUEST_SECS = Histogram(
    "watchpost_http_request_seconds",
    "time from a request's head to the last byte of its answer",
    {"method": _METHODS, "route": None},
)

# Ingest
ACCEPTED = Counter(
    "watchpost_ingest_accepted_total",
    "accepted events, or records of OpenTelemetry",
    {"way": _WAYS},
)
SKIPPED = Counter(
    "watchpost_ingest_skipped_total",
    "bad events or records, reported to their sender",
    {"way": _WAYS},
)
REFUSED = Counter(
    "watchpost_ingest_refused_requests_total",
    "requests with events that got 503, by error code",
    {"way": _WAYS, "code": _REFUSALS},
)
STORED = Counter("watchpost_ingest_stored_events_total", "events that workers gave to ClickHouse")
BATCH_EVENTS = Histogram(
    "watchpost_ingest_batch_events", "events that a worker stored together", buckets=ROWS
)
INSERT_SECS = Histogram("watchpost_ingest_insert_seconds", "time to store such a batch")
INSERT_FAILURES = Counter(
    "watchpost_ingest_insert_failures_total",
    "batches delayed because a store was down",
)
UNPRICED = Counter(
    "watchpost_unpriced_calls_total",
    "stored calls that have no cost, by reason; one that is sent again counts again",
    {"reason": ("no_model", "no_price", "no_usage", "bad_usage", OTHER)},
)
BURIED = Counter("watchpost_ingest_dead_letters_total", "events that became dead letters")
BACKLOG_BYTES = Gauge("watchpost_ingest_backlog_bytes", "accepted events that wait in Redis")
BACKLOG_LIMIT = Gauge("watchpost_ingest_backlog_limit_bytes", "`INGEST_BACKLOG_BYTES`")
LAG = Gauge("watchpost_ingest_lag_seconds", "age of the oldest waiting batch")
DEAD_LETTERS = Gauge("watchpost_dead_letters", "dead letters that wait for an operator")

# Canary
CANARY_SECS = Histogram(
    "watchpost_canary_seconds", "time from sending a canary until it was read", buckets=SLOW
)
CANARY_AGE = Gauge(
    "watchpost_canary_age_seconds", "time since the last canary of any group came through"
)
CANARY_UP = Gauge("watchpost_canary_up", "1 while the canaries of each group come through, else 0")
CANARY_FAILING = Gauge(
    "watchpost_canary_failing",
    "groups of ingest processes whose canaries the part stops",
    {"part": ("web", "redis", "ingest", "postgres", "clickhouse")},
)

# Evaluation
EVALUATION_OUTCOMES = Counter(
    "watchpost_evaluation_outcomes_total",
    "calls to the evaluator: `scored`, `error` and `timeout` end a job, `pending` and"
    " `again` do not; `late`: another worker has the job by then",
    {
        "evaluator": None,
        "outcome": ("scored", "error", "timeout", "pending", "again", "late", OTHER),
    },
)
EVALUATION_AGE = Histogram(
    "watchpost_evaluation_age_seconds",
    "time from the creation of a job to its result",
    {"evaluator": None},
    buckets=SLOW,
)
OLDEST_JOB = Gauge(
    "watchpost_evaluation_oldest_job_seconds",
    "longest wait of a due evaluation",
    {"evaluator": None},
)
JOBS = Gauge(
    "watchpost_evaluation_jobs",
    "jobs without a stored result",
    {"evaluator": None, "status": _JOB_STATES},
)
JOBS_AGE = Gauge(
    "watchpost_evaluation_jobs_age_seconds",
    "age of the oldest of these jobs; 0 without one",
    {"evaluator": None, "status": _JOB_STATES},
)

# Alerts, deliveries, mail
RULES = Counter(
    "watchpost_alert_rules_total",
    "evaluated rules, together or by SQL",
    {"kind": ("together", "sql")},
)
RULES_SECS = Histogram(
    "watchpost_alert_evaluation_seconds",
    "time to evaluate the due rules of an organization",
    {"kind": ("together", "sql")},
)
ALERT_LAG = Gauge("watchpost_alert_lag_seconds", "longest wait of a due rule for a worker")
DELIVERIES = Counter(
    "watchpost_deliveries_total",
    "attempts to deliver to Slack and webhooks",
    {"channel": (*OVER_HTTP, OTHER), "outcome": _SENDING},
)
DELIVERY_SECS = Histogram(
    "watchpost_delivery_seconds",
    "time of such an attempt",
    {"channel": (*OVER_HTTP, OTHER)},
)
DELIVERIES_QUEUED = Gauge("watchpost_deliveries_queued", "deliveries over HTTP that wait")
DELIVERY_LAG = Gauge("watchpost_delivery_lag_seconds", "longest wait of a due delivery")
MAILS = Counter("watchpost_mails_total", "attempts to send mails", {"outcome": _SENDING})
MAILS_QUEUED = Gauge("watchpost_mails_queued", "mails that wait")
MAILS_FAILED = Gauge("watchpost_mails_failed", "mails that failed for good")
MAIL_LAG = Gauge("watchpost_mail_lag_seconds", "longest wait of a due mail")

# Scheduled exports
EXPORT_FILES = Counter(
    "watchpost_export_files_total",
    "files of scheduled exports that were written or removed, and failed looks",
    {"outcome": ("written", "again", "removed", "failed", OTHER)},
)

# People's SQL, connections
SQL_RUNS = Counter(
    "watchpost_sql_runs_total",
    "runs of people's SQL: `ok`, or the error code",
    {
        "outcome": (
            "ok",
            "invalid",
            "query_failed",
            "query_timeout",
            "query_cancelled",
            "rate_limited",
            "queries_busy",
            "clickhouse_unavailable",
            OTHER,
        )
    },
)
SQL_SECS = Histogram("watchpost_sql_run_seconds", "time of such a run")
POOL_WAIT = Histogram(
    "watchpost_pool_wait_seconds",
    "time that a thread waited for a connection, if it had to",
    {"pool": _POOLS},
)
POOL_REFUSED = Counter(
    "watchpost_pool_refused_total",
    "threads that got no connection, and answered 503",
    {"pool": _POOLS},
)
STORE_UP = Gauge("watchpost_store_up", "1 while the store answers, else 0", {"store": _STORES})

# Processes
CPU_SECS = Counter(
    "watchpost_process_cpu_seconds_total",
    "processor time of a process, on Linux",
    {"process": None, "slot": None},
)
MEMORY = Gauge(
    "watchpost_process_memory_bytes",
    "memory of a process without shared pages, on Linux",
    {"process": None, "slot": None},
    of_deployment=False,
)
PROCESSES = Gauge(
    "watchpost_processes",
    "running processes of this process type",
    {"process": None},
    of_deployment=False,
)
SPANS_DROPPED = Counter(
    "watchpost_trace_spans_dropped_total",
    "lost spans of Watchpost itself",
    {"reason": ("not_sent", "queue_full")},
)
INFO = Gauge("watchpost_info", "1, with the version", {"version": None}, of_deployment=False)

ALL: tuple[Metric, ...] = tuple(one for one in list(globals().values()) if isinstance(one, Metric))


def table() -> str:
    """Returns a Markdown table of all metrics."""
    lines = ["| metric | kind | labels | description |", "|---|---|---|---|"]
    for metric in ALL:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        lines.append(f"| `{metric.name}` | {_kind(metric)} | {labels} | {metric.help} |")
    return "\n".join(lines)


def _kind(metric: Metric) -> str:
    if isinstance(metric, Gauge):
        return "gauge, deployment" if metric.of_deployment else "gauge"
    return "counter" if isinstance(metric, Counter) else "histogram"


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
