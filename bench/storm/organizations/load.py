"""Steady sessions of several organizations, each with an alert and an audit that must catch up."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from clickhouse_driver import Client

from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment
from tests.support.steady import SteadyLoad

_ORGCTL = str(Path(sys.executable).parent / "service-orgctl")
_CAUGHT_UP_WITHIN_SECS = 180.0
_ALERT = {
    "name": "Many events",
    "trigger_kind": "metric_threshold",
    "trigger_spec": {"metric": "event_count", "op": ">", "value": 0, "window_secs": 3600},
    "eval_interval_secs": 30,
    "channels": [{"kind": "dashboard"}],
}
_AUDIT = {"name": "Everything", "schedule_interval_secs": 3600}


class OrganizationsLoad:
    """Sessions of `count` new organizations at about `rate` events a second together."""

    def __init__(self, deployment: Deployment, rate: int, seed: int, count: int) -> None:
        self._deployment = deployment
        self._orgs = {slug: self._made(slug) for slug in (f"o{seed}n{n}" for n in range(count))}
        port = int(deployment.environ["PORT"])
        self._load = SteadyLoad(port, deployment.admin_key, self._orgs, rate)
        for slug in self._orgs:
            self._ask(slug, "POST", "/v1/alerts", _ALERT)
            self._ask(slug, "POST", "/v1/audits", _AUDIT)

    @property
    def answers(self) -> Mapping[str, int]:
        """How often each answer came."""
        return self._load.answers

    @property
    def slugs(self) -> tuple[str, ...]:
        """The organizations."""
        return tuple(self._orgs)

    def start(self) -> None:
        """Starts sending and reading."""
        self._load.start()

    def finish(self) -> None:
        """Waits until everything is acknowledged."""
        self._load.finish()

    def sessions(self, _clickhouse: Client) -> dict[str, int]:
        """Returns the number of events of each session."""
        return {session: events for (_, session), events in self._load.sessions().items()}

    def problems(self, clickhouse: Client) -> Iterator[str]:
        """Yields wrong events, and alerts and audits that do not catch up."""
        yield from self._load.event_problems(clickhouse)
        yield from self._load.result_problems(clickhouse)
        since = datetime.now(UTC)
        for slug in self._orgs:
            [audit] = self._ask(slug, "GET", "/v1/audits")
            self._ask(slug, "POST", f"/v1/audits/{audit['id']}/run", again={409})
        for slug in self._orgs:
            yield from self._late(slug, since)

    def _late(self, slug: str, since: datetime) -> Iterator[str]:
        """Yields what of an organization is not evaluated after `since`, or more than once open."""
        deadline = time.monotonic() + _CAUGHT_UP_WITHIN_SECS
        while True:
            [alert] = self._ask(slug, "GET", "/v1/alerts")
            [audit] = self._ask(slug, "GET", "/v1/audits")
            alert_is_fine = _is_after(alert["last_attempted_at"], since) and not alert["last_error"]
            ended = _is_after(audit["last_run_finished_at"], since)
            if alert_is_fine and ended and audit["last_run_status"] == "succeeded":
                break
            if time.monotonic() > deadline:
                yield f"{slug}: the alert or the audit is LATE: {alert} {audit}"
                return
            time.sleep(1)
        if alert["open_incidents"] != 1:
            yield f"{slug}: {alert['open_incidents']} incidents are open, and one rule fires"

    def _made(self, slug: str) -> str:
        """Creates an organization and returns its id."""
        done = subprocess.run(
            [_ORGCTL, "org", "create", slug, "--json"],
            env={"PATH": os.environ["PATH"], **self._deployment.variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return str(json.loads(done.stdout)["id"])

    def _ask(
        self,
        slug: str,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        again: frozenset[int] | set[int] = frozenset(),
    ) -> Any:
        """Returns the decoded answer. Tries again for a while where the service is not there."""
        headers = {
            "Authorization": f"Bearer {self._deployment.admin_key}",
            "X-Service-Org": slug,
            "Content-Type": "application/json",
            "X-Request-Id": secrets.token_hex(8),
        }
        sent = None if body is None else json.dumps(body).encode()
        said = ""
        for _ in range(200):
            connection = HTTPConnection(LOOPBACK, int(self._deployment.environ["PORT"]), timeout=60)
            try:
                connection.request(method, path, sent, headers)
                answer = connection.getresponse()
                said = f"{answer.status} {(content := answer.read())[:300]!r}"
                if answer.status in (200, 201, 202):
                    return json.loads(content)
                if answer.status not in {503, *again}:
                    break
            except (OSError, HTTPException) as error:
                said = repr(error)
            finally:
                connection.close()
            time.sleep(0.3)
        raise SystemExit(f"{method} {path} of {slug} answered {said}")


def _is_after(moment: str | None, since: datetime) -> bool:
    return moment is not None and datetime.fromisoformat(moment) > since
