"""The airline recording in one organization. All tests here read it and none changes it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.ingest.sender import Sender
from tests.support.airline import Airline
from tests.support.app import Headers, new_key
from tests.support.runtime import Org, make_org
from tests.web.conftest import app, client, key, web_runtime

__all__ = ["app", "client", "key", "web_runtime"]

# The recording is 23 hours long. Moved here, it begins in March, in another partition.
NEWEST = datetime(2025, 4, 1, 7, 14, 50, 84_000, tzinfo=UTC)
_BATCH = 4000


@dataclass(frozen=True)
class AirlineOrg:
    """An organization with the recording: each line is an event, and some were sent twice.

    `headers` are those of a key that may read events and evaluations.
    """

    org: Org
    recording: Airline
    headers: Headers


@pytest.fixture(scope="session")
def airline_org(runtime: Runtime, airline: Airline) -> AirlineOrg:
    """The recording, ingested once per run. A third of it was sent again, in another order."""
    org = make_org(runtime)
    recording = airline.recent(NEWEST)
    again = random.Random(20250401).sample(recording.lines, len(recording.lines) // 3)
    ingest(runtime, org, recording.lines)
    ingest(runtime, org, again)
    headers = new_key(runtime, org, ("events:read", "evaluations:read"))
    return AirlineOrg(org, recording, headers)


def ingest(runtime: Runtime, org: Org, lines: Sequence[bytes]) -> None:
    """Accepts the lines as POST /events does, and stores them as a worker does."""
    ingest = Ingest(runtime)
    for start in range(0, len(lines), _BATCH):
        decoded = ingest.accept(
            Sender(org.id, org.slug),
            body=b"\n".join(lines[start : start + _BATCH]),
            media_type="application/x-ndjson",
            encoding="identity",
        )
        assert decoded.skipped == 0, decoded.errors
    while Drain(runtime, "reading", IngestRulesCache(runtime)).run():
        pass
