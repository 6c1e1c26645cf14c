"""Lines of the audit log: their caller, their values, and their transaction."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import DBAPIError

from shared.access.audit_log import SYSTEM, Caller, acting_as, current_caller, record
from shared.access.audit_log.models import AuditLine
from shared.access.audit_log.recording import HIDDEN, LEFT_OUT, MAX_CHARS
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org

ADA = Caller("user", "ada@example.org", "web", uuid.uuid4(), None, "203.0.113.7", "f" * 32)


@contextmanager
def acting(caller: Caller) -> Iterator[None]:
    acting_as(lambda: caller)
    yield
    acting_as(lambda: SYSTEM)


def lines(runtime: Runtime, org: Org) -> list[AuditLine]:
    with runtime.postgres.transaction() as session:
        query = select(AuditLine).where(AuditLine.org_id == org.uuid).order_by(AuditLine.at)
        return list(session.scalars(query))


def test_a_line_names_the_caller_and_what_differs(runtime: Runtime, org: Org) -> None:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    with acting(ADA), runtime.postgres.transaction() as session:
        record(
            session,
            org.uuid,
            "key.update",
            target=org.uuid,
            name="collector",
            before={"permissions": {"b", "a"}, "expires_at": None, "name": "collector"},
            after={"permissions": ["a"], "expires_at": moment, "name": "collector"},
        )
    [line] = lines(runtime, org)
    assert (line.actor_kind, line.actor, line.way) == ("user", ADA.name, "web")
    assert (line.actor_id, line.address, line.request_id) == (ADA.id, ADA.address, ADA.request_id)
    assert (line.noun, line.action) == ("key", "key.update")
    assert (line.target_id, line.target) == (str(org.uuid), "collector")
    assert line.before == {"permissions": ["a", "b"], "expires_at": None}
    assert line.after == {"permissions": ["a"], "expires_at": "2026-11-01T00:00:00Z"}


def test_without_a_caller_the_service_acts(runtime: Runtime, org: Org) -> None:
    with acting(SYSTEM), runtime.postgres.transaction() as session:
        record(session, org.uuid, "user.create")
    [line] = lines(runtime, org)
    assert (line.actor_kind, line.way, line.before, line.after) == ("system", "system", None, None)
    assert current_caller() == SYSTEM


def test_secrets_are_hidden_at_any_depth(runtime: Runtime, org: Org) -> None:
    secrets = {"webhook_secret": "s1", "password": "s2", "token": "s3", "key_hash": b"s4"}
    told = {
        **secrets,
        "channels": [{"Authorization": "s5", "url": "u"}],
        "daily_tokens": 7,
        "to": "s3://u:s6@host/x",
    }
    with runtime.postgres.transaction() as session:
        record(session, org.uuid, "setting.update", after=told)
        record(session, org.uuid, "setting.update", after={"client_secret": ""})
    line, empty = lines(runtime, org)
    assert line.after == {
        **dict.fromkeys(secrets, HIDDEN),
        "channels": [{"Authorization": HIDDEN, "url": "u"}],
        "daily_tokens": 7,
        "to": f"s3://u:{HIDDEN}@host/x",
    }
    assert empty.after == {"client_secret": ""}


def test_long_values_are_cut_and_unusual_ones_stored(runtime: Runtime, org: Org) -> None:
    told = {
        "\0": "\0",
        "sql_text": "x" * 9000,
        "odd": "a\0\ud800",
        "many": ["y" * 1000] * 40,
        "big": 10**30,
    }
    with runtime.postgres.transaction() as session:
        record(session, org.uuid, "query.create", name="\ud800", after=told)
    [line] = lines(runtime, org)
    odd = "\N{REPLACEMENT CHARACTER}"
    assert line.after == {
        odd: odd,
        "sql_text": "x" * MAX_CHARS + "…",
        "odd": "a\N{REPLACEMENT CHARACTER}?",
        "many": LEFT_OUT,
        "big": 10**30,
    }


def test_a_line_shares_the_fate_of_its_change(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        record(session, org.uuid, "key.create")
        session.rollback()
    assert lines(runtime, org) == []
    with pytest.raises(NotFound), runtime.postgres.transaction() as session:
        record(session, uuid.uuid4(), "key.create")
    with pytest.raises(ValueError, match="name it"), runtime.postgres.transaction() as session:
        record(session, org.uuid, "key")


def test_lines_are_never_changed(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        record(session, org.uuid, "key.create")
    mine = AuditLine.org_id == org.uuid
    with (
        pytest.raises(DBAPIError, match="never changed"),
        runtime.postgres.transaction() as session,
    ):
        session.execute(update(AuditLine).where(mine).values(actor="nobody"))
    with runtime.postgres.transaction() as session:
        # Retention and the purge of an organization remove lines.
        session.execute(delete(AuditLine).where(mine))
