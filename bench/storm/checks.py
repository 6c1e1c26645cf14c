"""The state of the stores after a kill run, compared with what was acknowledged."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException
from itertools import chain
from typing import Any

import msgspec
import psycopg2
import redis
from clickhouse_driver import Client
from clickhouse_driver.errors import Error as ClickHouseError
from redis.exceptions import RedisError

from bench.posting import Poster
from devstack.up.deployment import Deployment
from shared.access.organizations import CANARY_ID
from shared.foundation.queue.waiting import orgs_with_records
from shared.intake.ingest import dead_letters
from shared.intake.ingest.stream import waiting

_SHOWN = 3
_PAGE = 200

_RESULTS = "SELECT session_id, count(), any(status) FROM evaluations FINAL GROUP BY session_id"
_JOBS = "SELECT status, trigger, count(*), min(last_error) FROM evaluation_jobs GROUP BY 1, 2"
_LIVE_JOBS = (
    "SELECT count(*), count(*) FILTER (WHERE status IN ('pending', 'polling', 'storing'))"
    " FROM evaluation_jobs"
)
_BREAKER = "SELECT failures, wait_secs, retry_at - now() FROM evaluator_breaker"
# The canary sends events of its own, and its session is never evaluated.
SENT = f"org_id != '{CANARY_ID}'"
_SESSIONS = f"SELECT uniqExact(org_id, session_id) FROM events WHERE {SENT}"


def wait_until_settled(deployment: Deployment, secs: float) -> tuple[float, str]:
    """Waits until every session has its result and nothing is left to do, `secs` at most.

    Returns the seconds, and what is left to do.
    """
    started = time.monotonic()
    left = ""
    while time.monotonic() - started < secs:
        try:
            left = _left(deployment)
        except (RedisError, psycopg2.Error, ClickHouseError, OSError, EOFError) as error:
            left = f"a store does not answer: {error!r}"  # one that was killed is still starting
        if not left:
            break
        # Nothing announces that the last part of a deployment is done.
        time.sleep(0.5)
    return time.monotonic() - started, left


def _left(deployment: Deployment) -> str:
    with redis.Redis.from_url(deployment.environ["REDIS_URL"], socket_timeout=5) as client:
        if entries := waiting(client):
            return f"{entries} entries wait in the streams"
        if orgs_with_records(client):
            return "records of OpenTelemetry wait"
    jobs, live = _ask(deployment, _LIVE_JOBS)[0]
    if live:
        [breaker] = _ask(deployment, _BREAKER) or [()]
        return f"{live} of {jobs} jobs have no result, and the breaker is {breaker}"
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    [(sessions,)] = clickhouse.execute(_SESSIONS)
    clickhouse.disconnect()
    return f"{jobs} jobs were made for {sessions} sessions" if jobs < sessions else ""


def problems(
    deployment: Deployment, sessions: Mapping[str, int], slugs: Sequence[str]
) -> Iterator[str]:
    """Yields what was left undone, or done twice.

    `sessions` have so many events, and are those of these organizations.
    """
    clickhouse = Client.from_url(deployment.environ["CLICKHOUSE_URL"])
    yield from _result_problems(clickhouse.execute(_RESULTS), sessions)
    clickhouse.disconnect()
    for status, trigger, count, error in _ask(deployment, _JOBS):
        if status != "done":
            yield f"{count} jobs ({trigger}) are {status}: {error}"
    with redis.Redis.from_url(deployment.environ["REDIS_URL"]) as client:
        if left := waiting(client):
            yield f"{left} entries wait in the streams"
        if orgs_with_records(client):
            yield "records of OpenTelemetry wait"
        if letters := dead_letters.count(client):
            yield f"{letters} dead letters"
    yield from _listing_problems(deployment, sessions, slugs)


def _result_problems(
    rows: list[tuple[str, int, str]], expected: Mapping[str, int]
) -> Iterator[str]:
    results = {session_id: count for session_id, count, _ in rows}
    if missing := expected.keys() - results.keys():
        yield f"{len(missing)} sessions have NO result, as {some(missing)}"
    if doubled := [session_id for session_id, count in results.items() if count > 1]:
        yield f"{len(doubled)} sessions have TWO results, as {some(doubled)}"
    if failed := [session_id for session_id, _, status in rows if status != "done"]:
        yield f"{len(failed)} results are errors, as {some(failed)}"


def _listing_problems(
    deployment: Deployment, wanted: Mapping[str, int], slugs: Sequence[str]
) -> Iterator[str]:
    """Compares GET /v1/sessions: each session once, with the number of its events."""
    listed: dict[str, int] = {}
    twice = 0
    for row in chain.from_iterable(_sessions(deployment, slug) for slug in slugs):
        twice += row["session_id"] in listed
        listed[row["session_id"]] = row["event_count"]
    if twice:
        yield f"GET /v1/sessions lists {twice} sessions twice"
    if wrong := [one for one in wanted if listed.get(one) != wanted[one]]:
        yield f"GET /v1/sessions is wrong about {len(wrong)} sessions, as {some(wrong)}"


def _sessions(deployment: Deployment, slug: str) -> Iterator[dict[str, Any]]:
    poster = Poster(int(deployment.environ["PORT"]), deployment.admin_key, org=slug)
    cursor = ""
    while True:
        body = _patiently(poster, f"/v1/sessions?limit={_PAGE}{cursor}")
        page = msgspec.json.decode(body)
        yield from page["sessions"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    poster.close()


def _patiently(poster: Poster, path: str) -> bytes:
    """Returns the body of a 200. The web processes may still be starting."""
    for _ in range(100):
        try:
            status, body = poster.get(path)
        except (OSError, HTTPException):
            poster.close()
        else:
            if status == 200:
                return body
        time.sleep(0.3)
    raise SystemExit(f"GET {path} does not answer 200")


def _ask(deployment: Deployment, sql: str) -> list[tuple[Any, ...]]:
    connection = psycopg2.connect(deployment.environ["DATABASE_URL"], connect_timeout=5)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())
    finally:
        connection.close()


def some(ids: Iterable[str]) -> str:
    """Returns the first of these, for a message."""
    return ", ".join(sorted(ids)[:_SHOWN])
