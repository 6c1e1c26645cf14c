"""A long answer gains nothing: it ends when the access that it began with is taken away."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from shared.cache import at_once
from shared.core.errors import Unauthorized
from shared.deployment.runtime import Runtime
from shared.exports import pages
from tests.support.app import Headers
from tests.support.events import event, store_events
from tests.support.runtime import Org
from web import auth, download

ROWS = 5


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes each row a page, and checks access at each. Otherwise it is once a second."""
    monkeypatch.setattr(auth, "PROMPT_SECS", 0)
    monkeypatch.setattr(download, "_CHUNK_BYTES", 1)
    for name in ("_EVENTS", "_SESSIONS", "_EVALUATIONS"):
        monkeypatch.setattr(pages, name, 1)


def keep(_runtime: Runtime, _org: Org) -> None:
    """Takes nothing away."""


def revoke(runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        keys = text("UPDATE api_keys SET revoked_at = now() WHERE org_id = :org")
        session.execute(keys, {"org": org.uuid})


@pytest.mark.parametrize("take", [keep, revoke])
@pytest.mark.parametrize("path", ["exports/events", "exports/sessions", "sessions/s-0/export"])
def test_an_export_ends_within_a_page(
    client: FlaskClient,
    runtime: Runtime,
    org: Org,
    key: Callable[..., Headers],
    take: Callable[[Runtime, Org], None],
    path: str,
) -> None:
    of_one = path.startswith("sessions")
    lines = [event("s-0" if of_one else f"s-{n}", f"10:00:0{n}") for n in range(ROWS)]
    store_events(runtime.clickhouse, org.id, lines)
    answer: Any = client.get(f"/v1/{path}", headers=key(), buffered=False)
    chunks = answer.iter_encoded()
    read = [next(chunks)]
    take(runtime, org)
    if take is keep:
        assert len(b"".join([*read, *chunks]).splitlines()) == ROWS
        return
    with pytest.raises(Unauthorized):
        read.extend(chunks)
    assert len(read) == 1
