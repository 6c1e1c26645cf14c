"""A worker that assigns and stores until it is killed, in a process of its own."""

import os
import signal
import time
from typing import Any

from redis.connection import AbstractConnection

from shared.foundation.core.config import Settings
from shared.foundation.core.ids import new_request_id
from shared.intake.ingest import drain
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.otlp.assignment import assigner, lease
from shared.intake.otlp.assignment.assigner import Assigner
from shared.intake.otlp.assignment.rules import OrganizationRules
from tests.support.runtime import connected


def work(settings: Settings, dies_at: int | None) -> None:
    """Assigns and stores in turns. The leases of a killed worker end soon.

    It kills itself at the message to Redis with the number `dies_at`: an odd one is still sent.
    """
    lease.LEASE_SECS = 0.2
    assigner.RUN_SECS = 0.05
    assigner.GATHER_SECS = 0.0
    drain.KEEPS_UP_MS = 200
    drain.GATHER_SECS = 0.0
    if dies_at is not None:
        _die_at(dies_at)
    with connected(settings) as runtime:
        rules_of, ingest_rules = OrganizationRules(runtime), IngestRulesCache(runtime)
        while True:
            Assigner(runtime, rules_of).run()
            Drain(runtime, new_request_id(), ingest_rules).run()
            time.sleep(0.002)


def _die_at(number: int) -> None:
    real: Any = AbstractConnection.send_packed_command
    sent = 0

    def send(connection: AbstractConnection, *args: Any, **kwargs: Any) -> None:
        nonlocal sent
        sent += 1
        if sent < number or number % 2:
            real(connection, *args, **kwargs)
        if sent >= number:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(AbstractConnection, "send_packed_command", send)  # noqa: B010 mypy allows no other way
