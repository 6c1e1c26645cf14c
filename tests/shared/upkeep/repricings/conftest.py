"""Repricings under test: small rounds, and runs that are carried out here."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from shared.foundation.cache import at_once
from shared.foundation.core.clock import from_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import backlog
from shared.reading.prices import service as prices
from shared.reading.prices.service import PriceContent
from shared.upkeep.repricings import service
from shared.upkeep.repricings.models import Repricing
from shared.upkeep.repricings.running import Repricings
from shared.upkeep.repricings.service import WantedRepricing
from shared.upkeep.rewriting import rounds
from tests.support.runtime import Org
from tests.support.stored_calls import START_US


@pytest.fixture(autouse=True)
def _small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_ROWS", "_FEWEST_ROWS", "_FIRST_ROWS"):
        monkeypatch.setattr(rounds, name, 4)
    # Other tests leave events that no worker stores.
    monkeypatch.setattr(backlog, "lag_secs", lambda _redis: 0.0)


class Desk:
    """An organization whose calls are priced again."""

    def __init__(self, runtime: Runtime, org: Org) -> None:
        self.runtime = runtime
        self.org = org

    def set_price(self, of_input: float, model: str = "house-*") -> None:
        """Replaces the organization's prices by one."""
        terms = {"input": of_input, "output": 0}
        content = PriceContent(model, None, None, terms, [], [], "")
        with at_once(self.runtime.postgres, self.runtime.redis) as session:
            session.execute(
                text("DELETE FROM prices WHERE org_id = :org_id AND model = :model"),
                {"org_id": self.org.uuid, "model": model},
            )
            prices.create(session, self.org.uuid, content, created_by="t")

    def request(self, *, dry_run: bool = False, **wanted: Any) -> uuid.UUID:
        """Requests a repricing of the day; returns its id."""
        start = from_us(START_US) - timedelta(hours=1)
        given = {"start": start, "stop": start + timedelta(days=1), "dry_run": dry_run, **wanted}
        with self.runtime.postgres.transaction() as session:
            row = service.request(
                session, self.runtime.queue, self.org.uuid, WantedRepricing(**given), "t"
            )
            return row.id

    def work(self) -> None:
        """Works at repricings as far as possible, as after the leases of dead workers."""
        with self.runtime.postgres.transaction() as session:
            session.execute(text("UPDATE repricings SET lease_expires_at = NULL"))
        Repricings(self.runtime, threading.Event(), org_id=self.org.uuid).run()

    def run(self, *, dry_run: bool = False, **wanted: Any) -> Repricing:
        """Requests a repricing, carries it out, and returns it."""
        made = self.request(dry_run=dry_run, **wanted)
        self.work()
        return self.read(made)

    def read(self, repricing_id: uuid.UUID) -> Repricing:
        """Returns a repricing as it is now."""
        with self.runtime.postgres.transaction() as session:
            return service.get(session, self.org.uuid, str(repricing_id))


@pytest.fixture
def desk(runtime: Runtime, org: Org) -> Desk:
    """An organization with a price of a dollar for a million tokens."""
    made = Desk(runtime, org)
    made.set_price(1)
    return made


Killer = Callable[[str, int], None]


class Killed(BaseException):
    """Stands for a SIGKILL: nothing in the code handles it."""


@pytest.fixture
def kill_before(monkeypatch: pytest.MonkeyPatch) -> Killer:
    """Has the process killed before the call of a function with a number, once."""

    def prepare(place: str, number: int) -> None:
        calls = 0
        module, _, name = place.rpartition(".")
        real = getattr(pytest.importorskip(module), name)

        def counted(*args: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number:
                raise Killed
            return real(*args, **named)

        monkeypatch.setattr(place, counted)

    return prepare
