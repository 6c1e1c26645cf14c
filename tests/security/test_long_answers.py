"""A long answer gains nothing: it ends when the access that it began with is taken away."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared.access import audit_log
from shared.access.audit_log import listing
from shared.foundation.cache import at_once
from shared.foundation.core.clock import now_us
from shared.foundation.core.errors import Unauthorized
from shared.foundation.deployment.runtime import Runtime
from shared.reading.evaluations import store as evaluations
from shared.reading.exports import pages
from tests.support.app import Headers
from tests.support.evaluations import evaluation
from tests.support.events import event, store_events
from tests.support.runtime import Org
from web import download

ROWS = 5


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes each row a page, and each event of a session as much as is sent without a check."""
    monkeypatch.setattr(download, "_CHUNK_BYTES", 1)
    monkeypatch.setattr(download, "_PORTION_BYTES", 1)
    monkeypatch.setattr(listing, "CHUNK_LINES", 1)
    for name in ("_EVENTS", "_SESSIONS", "_EVALUATIONS"):
        monkeypatch.setattr(pages, name, 1)


def fill(runtime: Runtime, org: Org, *, of_one: bool) -> None:
    """Stores events of one session or of several, results, and lines of the audit log."""
    sessions = [f"s-{0 if of_one else n}" for n in range(ROWS)]
    lines = [event(one, f"10:00:0{n}") for n, one in enumerate(sessions)]
    store_events(runtime.clickhouse, org.id, lines)
    rows = [evaluation(org.id, one, now_us()) for one in sessions]
    evaluations.insert(runtime.clickhouse, rows)
    with runtime.postgres.transaction() as session:
        for n in range(ROWS):
            audit_log.record(session, org.uuid, "query.create", name=str(n))


def keep(_runtime: Runtime, _org: Org) -> None:
    """Takes nothing away."""


def revoke(runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        keys = text("UPDATE api_keys SET revoked_at = now() WHERE org_id = :org")
        session.execute(keys, {"org": org.uuid})


@pytest.mark.parametrize("take", [keep, revoke])
@pytest.mark.parametrize(
    "path",
    [
        "exports/events?",
        "exports/sessions?",
        "exports/evaluations?",
        "audit-log/export?action=query.create",
        "sessions/s-0/export?format=jsonl",
        "sessions/s-0/export?format=array",
        "sessions/s-0/export?format=json",
    ],
)
def test_an_export_ends_within_a_page(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    key: Callable[..., Headers],
    take: Callable[[Runtime, Org], None],
    path: str,
) -> None:
    fill(runtime, org, of_one=path.startswith("sessions"))
    answer: Any = client.get(f"/v1/{path}", headers=key(), buffered=False)
    assert answer.status_code == 200
    chunks = answer.iter_encoded()
    read = [next(chunks)]
    take(runtime, org)
    if take is keep:
        read.extend(chunks)
        assert len(read) >= ROWS
        return
    with pytest.raises(Unauthorized):
        read.extend(chunks)
    assert len(read) == 1
