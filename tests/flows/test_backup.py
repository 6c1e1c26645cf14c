"""A backup of a deployment at work, restored into a second one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from devstack.up.deployment import Deployment
from shared.access.identity import bootstrap
from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.clock import format_ts
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_current
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.flows.api import Api, batches
from tests.flows.checks import EVENTS, SESSIONS, wait_for_results
from tests.support.airline import Airline
from tests.support.events import event
from tests.support.runtime import connected, migrated, settings_for
from tests.support.stack import running_stack
from web.app import create_app
from web.state import state

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

# The command that `bin/orgctl` runs in a finished environment.
COMMAND = str(Path(sys.executable).parent / "service-orgctl")
BUSY = "busy"


class Operator:
    """The operator's tool on the stores of some variables."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._environ = {"PATH": os.environ["PATH"], **variables}

    def run(self, *words: str) -> Any:
        """Runs a command and returns its JSON."""
        process = self._start(words)
        answer, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return json.loads(answer)

    def refused(self, *words: str) -> str:
        """Runs a command that has to fail, and returns the reason."""
        process = self._start(words)
        reason = process.communicate(timeout=300)[1]
        assert process.returncode == 1, reason
        return reason

    def kill_at(self, progress: str, *words: str) -> None:
        """Runs a command, and kills it when it reports this progress."""
        process = self._start(words)
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if progress in line:
                process.send_signal(signal.SIGKILL)
                break
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "".join(seen)

    def _start(self, words: tuple[str, ...]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [COMMAND, *words, "--json"],
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class Load:
    """Sends events of an organization until it is stopped; `accepted` are their numbers."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._stopped = threading.Event()
        self.begun = threading.Event()
        self.accepted: list[int] = []

    def run(self) -> None:
        """Sends batches one after the other."""
        number = 0
        while not self._stopped.is_set():
            numbers = range(number, number + 20)
            number += 20
            lines = [
                event(f"busy-{n // 40}", f"10:{n // 60 % 60:02}:{n % 60:02}", n=n) for n in numbers
            ]
            status, answer = self._api.request(
                "POST",
                "/events",
                b"\n".join(lines),
                X_Service_Org=BUSY,
                Content_Type="application/x-ndjson",
            )
            assert status == 202, answer
            self.accepted += numbers
            if number > 400:
                self.begun.set()

    def stop(self) -> None:
        """Lets the current batch be the last one."""
        self._stopped.set()


@pytest.fixture
def stores() -> Iterator[Settings]:
    """The settings of a second deployment, migrated and not started."""
    with running_stack() as stack:
        settings = settings_for(stack.urls)
        migrated(settings)
        yield settings


@contextmanager
def restored_web(
    settings: Settings, deployment: Deployment
) -> Iterator[tuple[Runtime, FlaskClient]]:
    """Runs the web application on restored stores, as a start with the same variables would."""
    changed = msgspec.structs.replace(
        settings,
        admin_key=deployment.admin_key,
        evaluator_endpoint=deployment.environ["EVALUATOR_ENDPOINT"],
    )
    with connected(changed) as runtime:
        require_current(runtime.postgres, runtime.clickhouse)
        bootstrap(runtime)
        app = create_app(runtime)
        yield runtime, app.test_client()
        with app.app_context():
            state().queries.close()


def routes(session_id: str, event_id: int, newest: str) -> list[str]:
    """Returns paths whose answers do not depend on the moment of the request."""
    until = quote(newest)
    since = quote(format_ts(datetime.fromisoformat(newest) - timedelta(hours=12)))
    session = f"/sessions/{quote(session_id, safe='')}"
    return [
        "/events?limit=500",
        "/events/summary",
        "/events/tool_names",
        f"/events/error_summary?ts_from={since}&ts_to={until}",
        f"/events/latency_aggregate?type=tool&bin_count=5&ts_from={since}&ts_to={until}",
        "/sessions?limit=200",
        session,
        f"{session}/events/{event_id}",
        f"{session}/export",
        "/evaluations?limit=200",
        f"/evaluations/aggregate?ts_from={since}&ts_to={until}",
        "/evaluation-jobs",
        "/evaluations/score_keys",
        "/settings",
    ]


def totals(clickhouse: ClickHouse, slugs_org: str) -> list[tuple[Any, ...]]:
    return [
        clickhouse.rows(sql, {"org": slugs_org})[0]
        for sql in (
            (
                "SELECT count(), sum(id), sum(length(payload)), sum(input_tokens), max(arrival)"
                " FROM events FINAL WHERE org_id = {org:String}"
            ),
            (
                "SELECT count(), uniqExact(evaluation_id), sum(arraySum(mapValues(scores)))"
                " FROM evaluations FINAL WHERE org_id = {org:String}"
            ),
            (
                "SELECT count(), min(started_at), max(last_event_at)"
                " FROM agent_sessions FINAL WHERE org_id = {org:String}"
            ),
        )
    ]


def org_ids(runtime: Runtime) -> dict[str, str]:
    with runtime.postgres.transaction() as session:
        rows = session.execute(text("SELECT slug, id FROM organizations")).all()
    return {slug: str(org_id) for slug, org_id in rows}


def count(runtime: Runtime, sql: str, **values: object) -> int:
    with runtime.postgres.transaction() as session:
        return int(session.scalar(text(sql), values) or 0)


def test_a_backup_under_load_is_restored(
    deployment: Deployment, api: Api, airline: Airline, stores: Settings, tmp_path: Path
) -> None:
    lines = airline.recent().lines
    here = Operator(deployment.variables)
    here.run("org", "create", BUSY)
    for batch in batches(lines):
        api.deliver(batch)
    wait_for_results(api, 120)

    load = Load(api)
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(load.run)
        try:
            assert load.begun.wait(60)
            here.kill_at("postgres/", "backup", "create", str(tmp_path))
            accepted = list(load.accepted)
            place = here.run("backup", "create", str(tmp_path))["place"]
        finally:
            load.stop()
        sending.result(60)
    assert len(load.accepted) > len(accepted), "nothing came in while the backup was taken"

    require_what_is_torn_is_recognised(here, tmp_path, place)
    there = Operator(
        {
            "DATABASE_URL": stores.database_url,
            "REDIS_URL": stores.redis_url,
            "CLICKHOUSE_URL": stores.clickhouse_url,
        }
    )
    there.kill_at("ClickHouse: events", "backup", "restore", place)
    with connected(stores) as runtime, pytest.raises(ConfigurationError, match="not finished"):
        require_current(runtime.postgres, runtime.clickhouse)
    restored = there.run("backup", "restore", place)
    assert restored["rows"] > EVENTS
    assert "is not empty" in there.refused("backup", "restore", place)

    with (
        connected(settings_for(deployment.stack.urls)) as original,
        restored_web(stores, deployment) as (copy, client),
    ):
        ids = org_ids(original)
        assert org_ids(copy) == ids
        default = ids["default"]
        assert totals(copy.clickhouse, default) == totals(original.clickhouse, default)
        require_same_answers(api, client, deployment.admin_key)
        require_everything_accepted(copy, ids[BUSY], accepted)
        require_nothing_is_evaluated_or_sent_again(copy, default, ids[BUSY])


def require_what_is_torn_is_recognised(here: Operator, folder: Path, place: str) -> None:
    """Checks the list, a flipped byte, and the backup whose creation was killed."""
    [torn, whole] = sorted(
        here.run("backup", "list", str(folder)), key=lambda row: row["status"] == "complete"
    )
    assert (torn["status"], whole["status"]) == ("unfinished", "complete")
    assert whole["place"] == place
    assert "never finished" in here.refused("backup", "verify", torn["place"])
    assert here.run("backup", "verify", place)["files"] > 10

    changed = folder / "changed" / "copy"
    shutil.copytree(place, changed)
    part = next((changed / "clickhouse" / "events").glob("*.zst"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    assert f"events/{part.name} is not as it was written" in here.refused(
        "backup", "verify", str(changed)
    )


def require_same_answers(api: Api, client: FlaskClient, admin_key: str) -> None:
    """Compares the answers of both deployments about what was stored before the load."""
    [newest] = api.get("/events", limit=1)["events"]
    for path in routes(newest["session_id"], newest["id"], newest["ts"]):
        status, expected = api.request("GET", path)
        assert status == 200, (path, expected)
        answer = client.get(f"/v1{path}", headers={"Authorization": f"Bearer {admin_key}"})
        assert answer.status_code == 200, (path, answer.data)
        assert answer.data == expected, path


def require_everything_accepted(copy: Runtime, org_id: str, accepted: list[int]) -> None:
    """Checks that each event that was accepted before the backup is there once it is drained."""
    Drain(copy, "c1", IngestRulesCache(copy)).run()
    rows = copy.clickhouse.rows(
        "SELECT JSONExtractUInt(payload, 'n') FROM events FINAL WHERE org_id = {org:String}",
        {"org": org_id},
    )
    stored = [n for (n,) in rows]
    assert len(stored) == len(set(stored))
    assert set(accepted) <= set(stored)


def require_nothing_is_evaluated_or_sent_again(copy: Runtime, default: str, busy: str) -> None:
    """Checks that a session has its result or a way to it, and that no mail waits.

    The drain of the copy watches sessions whose batches waited in Redis.
    """
    live = "SELECT count(*) FROM evaluation_jobs WHERE org_id = :org AND status <> 'done'"
    assert count(copy, live, org=default) == 0
    done = "SELECT count(*) FROM evaluation_jobs WHERE org_id = :org"
    assert count(copy, done, org=default) == SESSIONS
    unwatched = copy.clickhouse.rows(
        "SELECT DISTINCT session_id FROM events WHERE org_id = {org:String}", {"org": busy}
    )
    with copy.postgres.transaction() as session:
        watched = set(
            session.scalars(
                text("SELECT session_id FROM watched_sessions WHERE org_id = :org"), {"org": busy}
            )
        )
        finished = {
            str(job_id)
            for job_id in session.scalars(
                text(
                    "SELECT id FROM evaluation_jobs"
                    " WHERE org_id = :org AND status NOT IN ('pending', 'polling')"
                ),
                {"org": busy},
            )
        }
    results = copy.clickhouse.rows(
        "SELECT evaluation_id FROM evaluations FINAL WHERE org_id = {org:String}", {"org": busy}
    )
    assert {session_id for (session_id,) in unwatched} <= watched
    assert {evaluation_id for (evaluation_id,) in results} <= finished
    assert count(copy, "SELECT count(*) FROM mails WHERE status = 'queued'") == 0
    assert count(copy, "SELECT count(*) FROM sign_in_sessions") == 0
