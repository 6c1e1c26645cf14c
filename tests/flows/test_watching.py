"""Alert rules while workers, clock and PostgreSQL are killed: each rule fires once."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import psutil
import pytest
from sqlalchemy import text

from devstack.up.deployment import Deployment
from shared.access import organizations
from shared.foundation.core.clock import format_ts, now
from shared.foundation.postgres import Postgres
from tests.flows.api import Api, eventually
from tests.support.deployment import running_deployment
from tests.support.evaluator import Evaluator, hang, reply
from tests.support.receivers import Receiver, running_receiver

pytestmark = [pytest.mark.flow, pytest.mark.timeout(900)]

SEED = random.randrange(10**6)
ORGS = 6
RULES_EACH = 20
# The shortest interval that people may choose, and the one that the rules get.
CHOSEN_SECS, INTERVAL_SECS = 30, 10

# Organizations whose receivers misbehave. All other receivers accept their deliveries.
HANGS, FAILS, REDIRECTS = "org-3", "org-4", "org-5"


class Site(NamedTuple):
    """A deployment, and the webhook receivers of each organization."""

    deployment: Deployment
    receivers: dict[str, Receiver]
    # The target of the redirecting receiver. No delivery may follow there.
    forbidden: Receiver

    def api(self) -> Api:
        """A client with the admin key."""
        return Api(int(self.deployment.environ["PORT"]), self.deployment.admin_key)

    def ask(self, method: str, path: str, slug: str, body: Any = None) -> Any:
        """Sends one request in an organization until it is answered."""
        answer: list[Any] = []

        def answered() -> bool:
            sent = None if body is None else json.dumps(body).encode()
            named = {"X_Service_Org": slug, "Content_Type": "application/json"}
            try:
                status, told = self.api().request(method, path, sent, **named)
            except OSError:
                return False
            assert status in (200, 201, 202, 503), told
            if status != 503:
                answer.append(json.loads(told))
            return bool(answer)

        eventually(60, f"{method} {path}", answered)
        return answer[0]


@pytest.fixture
def site(evaluator: Evaluator) -> Iterator[Site]:
    """Organizations, each with its own receiver."""
    with _receivers() as (receivers, forbidden):
        variables = {"WEBHOOK_ALLOW_PRIVATE": "1", "LOG_FORMAT": "json"}
        with running_deployment(evaluator, **variables) as deployment:
            _make_organizations(deployment)
            site = Site(deployment, receivers, forbidden)
            for slug, receiver in receivers.items():
                for key, value in (
                    ("alerts.webhook_default_url", receiver.url),
                    ("alerts.webhook_signing_secret", f"secret-of-{slug}"),
                ):
                    site.ask("PUT", f"/settings/{key}", slug, {"value": value})
            yield site


def test_each_incident_opens_once_and_every_delivery_arrives(site: Site) -> None:
    print(f"seed {SEED}")  # noqa: T201 shown with a failed test
    dice = random.Random(SEED)
    for slug in site.receivers:
        for number in range(RULES_EACH):
            site.ask("POST", "/alerts", slug, _rule(number))
    _hasten(site.deployment)
    # After the rules' first evaluation, so that all of them fire at their next one.
    eventually(60, "every rule was evaluated", lambda: _all_evaluated(site))
    for slug in site.receivers:
        assert site.ask("POST", "/events", slug, [_event()])["accepted"] == 1
    _disturb(site.deployment, dice)
    eventually(120, "every rule fired", lambda: _all_fired(site), pause=1)
    eventually(90, "every delivery arrived", lambda: _all_delivered(site), pause=1)
    delivered_at = format_ts(now())

    for slug, receiver in site.receivers.items():
        incidents, notes = _settled(site, slug, delivered_at)
        assert Counter(row["alert_name"] for row in incidents) == {
            _rule(number)["name"]: 1 for number in range(RULES_EACH)
        }
        # One per rule, even if a worker was killed between opening the incident and announcing it.
        assert len(notes) == RULES_EACH
        _require_deliveries(slug, receiver, {note["id"]: note for note in notes})
    assert site.forbidden.deliveries == []


def _all_evaluated(site: Site) -> bool:
    rules = [rule for slug in site.receivers for rule in site.ask("GET", "/alerts", slug)]
    return len(rules) == RULES_EACH * ORGS and all(rule["last_attempted_at"] for rule in rules)


def _settled(
    site: Site, slug: str, after: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns an organization's incidents, once all have breached again, and their ended notes."""
    seen: list[list[dict[str, Any]]] = []

    def settled() -> bool:
        incidents = _incidents(site, slug)
        if not all(row["last_breach_at"] > after for row in incidents):
            return False
        details = [site.ask("GET", f"/alerts/incidents/{row['id']}", slug) for row in incidents]
        notes = [note for detail in details for note in detail["notifications"]]
        seen[:] = [incidents, notes]
        # A killed worker's claims are free again after their lease.
        return slug in (HANGS, FAILS) or all(note["status"] != "queued" for note in notes)

    eventually(120, f"{slug} settled", settled, pause=1)
    return seen[0], seen[1]


def _require_deliveries(slug: str, receiver: Receiver, notes: dict[str, Any]) -> None:
    """Checks that each of the notes arrived under its id, always with the same content."""
    said: dict[str | None, set[bytes]] = {}
    for delivery in receiver.deliveries:
        assert delivery.id == delivery.json["delivery_id"]
        said.setdefault(delivery.id, set()).add(delivery.body)
    assert all(len(bodies) == 1 for bodies in said.values())
    assert said.keys() <= notes.keys()
    states = Counter(note["status"] for note in notes.values())
    if slug == REDIRECTS:
        assert states == {"failed": RULES_EACH}
        assert all("redirect" in note["error"] for note in notes.values())
    elif slug in (HANGS, FAILS):
        assert states == {"queued": RULES_EACH}
    else:
        assert states == {"sent": RULES_EACH}
        assert said.keys() == notes.keys()


def _disturb(deployment: Deployment, dice: random.Random) -> None:
    """Kills a process every few seconds until the rules have fired."""
    todo = ["worker", "worker", "clock", "clock", "postgres", "postgres", *["process"] * 8]
    dice.shuffle(todo)
    for what in todo:
        if what == "postgres":
            deployment.stack.postgres.kill()
        elif what == "process":
            _kill_one(deployment, dice)
        else:
            deployment.kill(what)
        # A kill comes at any moment.
        time.sleep(dice.uniform(1, 3))


def _kill_one(deployment: Deployment, dice: random.Random) -> None:
    """Kills the process of alerts, mail and notifications. Its supervisor starts it again."""
    port = deployment.environ["PORT"]
    alive = [
        process
        for process in psutil.process_iter(["name", "environ"])
        if process.info["name"] == "wp-shared"
        and (process.info["environ"] or {}).get("PORT") == port
    ]
    if alive:
        dice.choice(alive).kill()


def _all_fired(site: Site) -> bool:
    return all(len(_incidents(site, slug)) == RULES_EACH for slug in site.receivers)


def _all_delivered(site: Site) -> bool:
    """Returns whether all notes of the well-behaved receivers are delivered."""
    return all(
        len({delivery.id for delivery in receiver.deliveries}) == RULES_EACH
        for slug, receiver in site.receivers.items()
        if slug not in (HANGS, FAILS, REDIRECTS)
    )


def _incidents(site: Site, slug: str) -> list[dict[str, Any]]:
    states = "firing,acknowledged,resolved"
    rows: list[dict[str, Any]] = site.ask("GET", f"/alerts/incidents?state={states}", slug)
    return rows


def _rule(number: int) -> dict[str, Any]:
    return {
        "name": f"rule {number}",
        "trigger_kind": "per_event",
        "trigger_spec": {"event_type": "error", "lookback_secs": 3600},
        "eval_interval_secs": CHOSEN_SECS,
        "channels": [{"kind": "webhook"}],
    }


def _event() -> dict[str, str]:
    fields = {"session_id": "s", "type": "error", "timestamp": format_ts(now())}
    return {**fields, "error_type": "Boom", "message": "it broke"}


@contextmanager
def _receivers() -> Iterator[tuple[dict[str, Receiver], Receiver]]:
    with ExitStack() as stack:
        slugs = [f"org-{number}" for number in range(ORGS)]
        receivers = {slug: stack.enter_context(running_receiver()) for slug in slugs}
        forbidden = stack.enter_context(running_receiver())
        receivers[HANGS].default = hang
        receivers[FAILS].default = reply(500)
        receivers[REDIRECTS].default = reply(302, headers={"Location": forbidden.url})
        yield receivers, forbidden


def _hasten(deployment: Deployment) -> None:
    """Makes rules due more often than people may, for more rounds in the same time."""
    postgres = Postgres(deployment.environ["DATABASE_URL"], pool_size=1)
    with postgres.transaction() as session:
        session.execute(text("UPDATE alerts SET eval_interval_secs = :n"), {"n": INTERVAL_SECS})
    postgres.close()


def _make_organizations(deployment: Deployment) -> None:
    postgres = Postgres(deployment.environ["DATABASE_URL"], pool_size=1)
    with postgres.transaction() as session:
        for number in range(ORGS):
            organizations.create(session, f"org-{number}")
    postgres.close()
