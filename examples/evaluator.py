"""A small evaluator for Watchpost: three scores from the events of a session.

    python examples/evaluator.py --port 9000

It needs nothing but Python. To write your own, copy this file and replace `evaluate`.

    GET  /health              liveness, without a token
    GET  /config              settings for the platform: when a silent session counts as over
    POST /evaluate            takes a session's events; returns scores or the id of a job to poll
    GET  /evaluate/{job_id}   the scores once the job is done, the job's id until then

With EVALUATOR_TOKEN set, every route but /health requires `Authorization: Bearer <token>`.
"""

import argparse
import contextlib
import hmac
import json
import os
import threading
import time
import uuid
import zlib
from collections import Counter, OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote

MAX_BODY_BYTES = 25 * 1024 * 1024
MAX_JOBS = 10_000

GOOD_OUTCOMES = {"success", "completed", "ok", "done"}
FAIR_TURNS = 20

Json = dict[str, Any]


# --- Scoring: the part to replace -----------------------------------------------------------------


def evaluate(session: Json) -> Json:
    """Scores a session: takes an EvalRequest, returns an EvalResponse.

    The keys of the scores are the names of charts, so keep them stable.
    """
    payloads = [event["payload"] for event in session["events"]]
    parts = {
        "task_success": task_success(payloads),
        "tool_reliability": tool_reliability(payloads),
        "turn_efficiency": turn_efficiency(payloads),
    }
    scores = {key: score for key, (score, _) in parts.items()}
    success = "reached its goal" if scores["task_success"] else "did not reach its goal"
    return {
        "scores": scores,
        "reasoning": {key: why for key, (_, why) in parts.items()},
        "summary": f"{root_agent(payloads)} {success} in {len(payloads)} events;"
        f" tools {scores['tool_reliability']:.0%} reliable.",
    }


def task_success(payloads: list[Json]) -> tuple[float, str]:
    """Returns 1 when the root agent's last outcome is a success, else 0."""
    root = root_agent(payloads)
    ends = [p for p in payloads if p["type"] == "agent_end" and agent_of(p) == root]
    if not ends:
        return 0.0, f"{root} never ended."
    outcome = ends[-1].get("outcome")
    if isinstance(outcome, str) and outcome in GOOD_OUTCOMES:
        return 1.0, f"{root} ended with the outcome {outcome!r}."
    return 0.0, f"{root} ended with the outcome {outcome!r}, which is not a success."


def tool_reliability(payloads: list[Json]) -> tuple[float, str]:
    """Returns the share of tool results without an error."""
    results = [p for p in payloads if p["type"] == "tool_result"]
    if not results:
        return 1.0, "No tool was used."
    failed = Counter(str(p.get("tool_name")) for p in results if is_failure(p.get("error")))
    why = f"{failed.total()} of {len(results)} tool results are errors"
    worst = "".join(f", most often of {tool}" for tool, _ in failed.most_common(1))
    return 1 - failed.total() / len(results), f"{why}{worst}."


def turn_efficiency(payloads: list[Json]) -> tuple[float, str]:
    """Returns 1 up to a fair number of model requests, then less with each further one."""
    turns = sum(p["type"] == "model_request" for p in payloads)
    if turns == 0:
        return 1.0, "No request to a model was recorded."
    return min(1.0, FAIR_TURNS / turns), f"{turns} model requests; {FAIR_TURNS} are fair."


def root_agent(payloads: list[Json]) -> str:
    """Returns the agent that started first, or else the agent of the first event."""
    first_start = next((p for p in payloads if p["type"] == "agent_start"), None)
    return agent_of(first_start or next(iter(payloads), {}))


def agent_of(payload: Json) -> str:
    """Returns the agent of an event. An event without an agent belongs to `main`."""
    return str(payload.get("agent_id") or "main")


def is_failure(error: object) -> bool:
    """Returns whether an event failed. Senders write "no error" in several ways."""
    return error is not None and error is not False and error != ""


# --- Serving: the contract with the platform ------------------------------------------------------


class Job(NamedTuple):
    """An evaluation. `ready_at` (monotonic seconds) simulates a slow model."""

    ready_at: float
    result: Json

    @property
    def secs_left(self) -> float:
        """Returns the seconds until the result may be given out."""
        return max(0.0, self.ready_at - time.monotonic())


class Evaluator(ThreadingHTTPServer):
    """The server and its jobs. The platform's Idempotency-Key identifies a job."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options: argparse.Namespace, token: str | None) -> None:
        super().__init__((options.host, options.port), Handler)
        self.options = options
        self.token = token
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def deliver(self, job_id: str, session: Json) -> Job:
        """Evaluates a session. A repeated delivery, as in a retry, gets the same job."""
        known = self.find(job_id)
        if known is not None:
            return known
        result = evaluate(session)
        with self._lock:
            ready_at = time.monotonic() + self.options.delay_ms / 1000
            job = self._jobs.setdefault(job_id, Job(ready_at, result))
            if len(self._jobs) > MAX_JOBS:
                self._jobs.popitem(last=False)
        return job

    def find(self, job_id: str) -> Job | None:
        """Returns the job of an id, or None for an id that is unknown or expired."""
        with self._lock:
            return self._jobs.get(job_id)

    def answers_later(self, job_id: str) -> bool:
        """Returns whether to answer with a job to poll, which `mixed` does every other time."""
        mode = self.options.mode
        return mode == "async" or (mode == "mixed" and zlib.crc32(job_id.encode()) % 2 == 1)


class Handler(BaseHTTPRequestHandler):
    """One request of the platform."""

    server: Evaluator
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Answers liveness, configuration and polls."""
        if self.path == "/health":
            self.reply(200, {"status": "ok"})
        elif not self.is_allowed():
            self.reply(401, {"error": "authentication required: send the evaluator's token"})
        elif self.path == "/config":
            self.reply(
                200, {"inactivity_timeout_secs": self.server.options.inactivity_timeout_secs}
            )
        elif self.path.startswith("/evaluate/"):
            self.poll(unquote(self.path.removeprefix("/evaluate/")))
        else:
            self.reply(404, {"error": "there is no such route"})

    def do_POST(self) -> None:
        """Answers deliveries."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY_BYTES:
            self.close_connection = True  # the rest of the body is still arriving
            self.reply(413, {"error": f"the request is larger than {MAX_BODY_BYTES} bytes"})
            return
        body = self.rfile.read(length)
        if not self.is_allowed():
            self.reply(401, {"error": "authentication required: send the evaluator's token"})
        elif self.path != "/evaluate":
            self.reply(404, {"error": "there is no such route"})
        else:
            self.deliver(body)

    def deliver(self, body: bytes) -> None:
        """Answers with the scores, or with the id of the job that will have them."""
        job_id = self.headers.get("Idempotency-Key") or uuid.uuid4().hex
        try:
            job = self.server.deliver(job_id, json.loads(body))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self.reply(422, {"error": f"the body is not an EvalRequest: {error!r}"})
            return
        if self.server.answers_later(job_id):
            self.reply(202, pending(job_id, job))
        else:
            time.sleep(job.secs_left)
            self.reply(200, job.result)

    def poll(self, job_id: str) -> None:
        """Answers with the scores once they are there."""
        job = self.server.find(job_id)
        if job is None:
            self.reply(404, {"error": "there is no such job"})
        elif job.secs_left:
            self.reply(202, pending(job_id, job))
        else:
            self.reply(200, job.result)

    def is_allowed(self) -> bool:
        """Returns whether the request carries the token, or no token is set."""
        if self.server.token is None:
            return True
        expected = f"Bearer {self.server.token}".encode()
        return hmac.compare_digest(self.headers.get("Authorization", "").encode(), expected)

    def reply(self, status: int, body: Json) -> None:
        """Sends a JSON answer."""
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Logs errors only."""


def pending(job_id: str, job: Job) -> Json:
    """Returns a JobPending: the path to poll and the delay before the next poll."""
    return {"job_id": job_id, "next_poll_secs": max(1.0, job.secs_left)}


def read_options() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument(
        "--mode",
        choices=["sync", "async", "mixed"],
        default="mixed",
        help="answer deliveries with scores, with jobs to poll, or with both in turn",
    )
    parser.add_argument("--delay-ms", type=int, default=0, help="duration of an evaluation")
    parser.add_argument(
        "--inactivity-timeout-secs",
        type=float,
        default=0,
        help="a session without an event for this long counts as over; 0: it stays open",
    )
    return parser.parse_args()


def main() -> None:
    """Serves until interrupted."""
    options = read_options()
    with Evaluator(options, os.environ.get("EVALUATOR_TOKEN") or None) as evaluator:
        print(f"evaluator ready on http://{options.host}:{evaluator.server_port}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            evaluator.serve_forever()


if __name__ == "__main__":
    main()
