"""Measures how late work begins that is due at a moment: polls and retries of evaluations, alerts.

    python -m bench.lateness [--sessions 30] [--rules 30] [--seconds 70]

Runs its own deployment with an evaluator that leaves one half of the jobs pending, to be polled
every two seconds, and refuses the first attempt of the other half. Late is the time from the moment
that PostgreSQL shows as due until the evaluator has the request, or until a rule is evaluated.
"""

import sys
import threading
import time
from collections import defaultdict
from datetime import UTC, datetime
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import msgspec
import psycopg2

# Lets `python bench/lateness.py` find its neighbours, as `python -m bench.lateness` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.figures import figures_of, lines_of, percentile
from devstack.ports import LOOPBACK, free_port
from devstack.up.deployment import Deployment

_POLL_SECS = 2

# Moments as seconds since 1970, by kind.
Late = dict[str, list[float]]

_JOBS = """
SELECT id::text, status, extract(epoch FROM next_attempt_at)::float FROM evaluation_jobs
WHERE status IN ('pending', 'polling') AND next_attempt_at > now()
"""
_RULES = """
SELECT alert_id::text, extract(epoch FROM last_due_at)::float,
    extract(epoch FROM last_attempted_at)::float
FROM alert_states WHERE last_due_at > %s
"""


class _Evaluator(ThreadingHTTPServer):
    """Notes when each job arrived. Jobs of sessions with an even number stay pending."""

    def __init__(self, port: int) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.arrivals: dict[str, list[float]] = defaultdict(list)


class _Handler(BaseHTTPRequestHandler):
    server: _Evaluator

    def do_GET(self) -> None:
        if self.path.startswith("/evaluate/"):
            self._note()
            self._answer(200, {"job_id": self.path.rpartition("/")[2]})
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"])))
        self._note()
        if int(body["session_id"].rpartition("-")[2]) % 2:
            self._answer(503, {})
        else:
            self._answer(202, {"job_id": body["session_id"]})

    def _note(self) -> None:
        self.server.arrivals[self.headers["Idempotency-Key"]].append(time.time())

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        content = msgspec.json.encode({**answer, "next_poll_secs": _POLL_SECS})
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 its name
        """Says nothing."""


def _post(deployment: Deployment, path: str, body: bytes, content_type: str) -> None:
    connection = HTTPConnection(LOOPBACK, int(deployment.environ["PORT"]))
    headers = {"Authorization": f"Bearer {deployment.admin_key}", "Content-Type": content_type}
    connection.request("POST", f"/v1{path}", body, headers)
    answer = connection.getresponse()
    if answer.status >= 300:
        raise SystemExit(f"POST {path} answered {answer.status}: {answer.read()[:300]!r}")
    connection.close()


def _send_sessions(deployment: Deployment, sessions: int) -> None:
    at = datetime.now(UTC)
    events = [
        {"session_id": f"late-{number}", "timestamp": at, "type": kind, "agent_id": "main"}
        for number in range(sessions)
        for kind in ("agent_start", "agent_end")
    ]
    lines = b"\n".join(map(msgspec.json.encode, events))
    _post(deployment, "/events", lines, "application/x-ndjson")


def _make_rules(deployment: Deployment, rules: int) -> None:
    for number in range(rules):
        rule = {
            "name": f"late {number}",
            "trigger_kind": "per_event",
            "trigger_spec": {"event_type": "error", "lookback_secs": 3600},
            "eval_interval_secs": 30 + number % 7,
        }
        _post(deployment, "/alerts", msgspec.json.encode(rule), "application/json")


def _watch_jobs(database_url: str, stop: threading.Event) -> dict[tuple[str, float], str]:
    """Returns the kind of each (job, due moment) that PostgreSQL showed in advance."""
    seen: dict[tuple[str, float], str] = {}
    connection = psycopg2.connect(database_url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        while not stop.wait(0.1):
            cursor.execute(_JOBS)
            for job_id, status, due in cursor.fetchall():
                seen[job_id, due] = "polls" if status == "polling" else "retries"
    connection.close()
    return seen


def _late_rules(database_url: str, since: float) -> list[float]:
    connection = psycopg2.connect(database_url)
    with connection.cursor() as cursor:
        cursor.execute(_RULES, (datetime.fromtimestamp(since, UTC),))
        late = [attempted - due for _, due, attempted in cursor.fetchall()]
    connection.close()
    return late


def measure(sessions: int = 30, rules: int = 30, seconds: float = 70.0) -> dict[str, float]:
    """Returns the milliseconds of polls, retries and alerts by figure; see `bench.figures`."""
    evaluator = _Evaluator(free_port())
    threading.Thread(target=evaluator.serve_forever, daemon=True).start()
    endpoint = f"http://{LOOPBACK}:{evaluator.server_port}"
    late: Late = defaultdict(list)
    with deployed(lambda _text: None, EVALUATOR_ENDPOINT=endpoint) as deployment:
        _make_rules(deployment, rules)
        _send_sessions(deployment, sessions)
        stop, since = threading.Event(), time.time() + 5
        threading.Timer(seconds, stop.set).start()
        dues = _watch_jobs(deployment.environ["DATABASE_URL"], stop)
        late["alerts"] = _late_rules(deployment.environ["DATABASE_URL"], since)
    evaluator.shutdown()
    for (job_id, due), kind in dues.items():
        after = [at - due for at in evaluator.arrivals[job_id] if at >= due]
        if after:
            late[kind].append(min(after))
    values: dict[str, float] = {}
    for kind in ("polls", "retries", "alerts"):
        if not late[kind]:
            raise SystemExit(f"no {kind} were due")
        values |= {
            f"lateness.{kind}": len(late[kind]),
            f"lateness.{kind}_p50": percentile(late[kind], 50) * 1000,
            f"lateness.{kind}_p95": percentile(late[kind], 95) * 1000,
            f"lateness.{kind}_most": max(late[kind]) * 1000,
        }
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--sessions", default=30, show_default=True)
@click.option("--rules", default=30, show_default=True)
@click.option("--seconds", default=70.0, show_default=True)
def main(sessions: int, rules: int, seconds: float) -> None:
    for line in lines_of(figures_of(measure(sessions, rules, seconds))):
        click.echo(line)


if __name__ == "__main__":
    main()
