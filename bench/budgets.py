"""Measures how late a level of a budget is told after the call that reached it was stored.

    python -m bench.budgets [--users 1000] [--times 10]

Runs its own deployment with a budget for each of many users, evaluated every 30 s. Again and again
one more user passes the amount, at any moment of the interval. The time goes from the moment at
which SQL shows the call until PostgreSQL shows the notification. Only these users may be told.

The bar: no time above the interval and 5 s.
"""

import json
import random
import sys
import time
import uuid
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import click
import psycopg2

# Lets `python bench/budgets.py` find its neighbours, as `python -m bench.budgets` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed
from bench.figures import figures_of, lines_of, percentile
from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment

INTERVAL_SECS = 30
_AMOUNT = 50
# After this nothing will be told.
_GIVEN_UP_SECS = 120

_TOLD = "SELECT count(*) FROM notifications WHERE event = 'alert.firing'"


def measure(users: int = 1000, times: int = 10) -> dict[str, float]:
    """Returns the seconds until a level was told, by figure; see `bench.figures`."""
    dice = random.Random(7)
    with deployed(lambda _text: None) as deployment:
        _send(deployment, [_call(user, 1) for user in range(users)])
        rule = {
            "name": "Each user",
            "trigger_kind": "budget",
            "trigger_spec": {
                "amount_usd": _AMOUNT,
                "period": "month",
                "levels": [100],
                "forecast": False,
                "group_by": "user_id",
            },
            "eval_interval_secs": INTERVAL_SECS,
            "channels": [{"kind": "dashboard"}],
        }
        _ask(deployment, "POST", "/alerts", json.dumps(rule))
        took = []
        connection = psycopg2.connect(deployment.environ["DATABASE_URL"])
        connection.autocommit = True
        with connection.cursor() as cursor:
            for user in range(times):
                time.sleep(dice.random() * INTERVAL_SECS)  # at any moment of the interval
                took.append(_told_after(deployment, cursor, user))
        connection.close()
    return {
        "budgets.users": users,
        "budgets.told": len(took),
        "budgets.late_p50": percentile(took, 50),
        "budgets.late_most": max(took),
    }


def _told_after(deployment: Deployment, cursor: Any, user: int) -> float:
    """Lets a user pass the amount; returns the seconds from storing until it is told."""
    _send(deployment, [_call(user, _AMOUNT)])
    while _calls_of(deployment, user) < 2:
        time.sleep(0.05)
    stored = time.monotonic()
    while True:
        cursor.execute(_TOLD)
        [told] = cursor.fetchone()
        if told > user + 1:
            raise SystemExit(f"{told} users were told of {user + 1}")
        if told == user + 1:
            return time.monotonic() - stored
        if time.monotonic() > stored + _GIVEN_UP_SECS:
            raise SystemExit(f"user {user} was not told in {_GIVEN_UP_SECS} s")
        time.sleep(0.05)


def _calls_of(deployment: Deployment, user: int) -> int:
    answer = _ask(deployment, "GET", f"/events?user_id=u{user}&limit=10")
    return len(answer["events"])


def _call(user: int, cost: int) -> dict[str, Any]:
    return {
        "session_id": f"s{user}",
        "timestamp": datetime.now(UTC).isoformat(),
        "type": "model_response",
        "user_id": f"u{user}",
        "cost_usd": cost,
        "request_id": str(uuid.uuid4()),
    }


def _send(deployment: Deployment, events: list[dict[str, Any]]) -> None:
    lines = "\n".join(map(json.dumps, events))
    _ask(deployment, "POST", "/events", lines, "application/x-ndjson")


def _ask(
    deployment: Deployment,
    method: str,
    path: str,
    body: str | None = None,
    content_type: str = "application/json",
) -> Any:
    connection = HTTPConnection(LOOPBACK, int(deployment.environ["PORT"]))
    headers = {"Authorization": f"Bearer {deployment.admin_key}", "Content-Type": content_type}
    connection.request(method, f"/v1{path}", body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status >= 300:
        raise SystemExit(f"{method} {path} answered {answer.status}: {content[:300]!r}")
    return json.loads(content)


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--users", default=1000, show_default=True)
@click.option("--times", default=10, show_default=True, help="users that pass their amount")
def main(users: int, times: int) -> None:
    for line in lines_of(figures_of(measure(users, times))):
        click.echo(line)


if __name__ == "__main__":
    main()
