"""Revision 0004: everybody who could see alerts can see audits. Keys gain nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from shared.foundation.postgres import Postgres
from shared.foundation.postgres.migrate import migrate
from tests.support.databases import empty_postgres
from tests.support.grants import Held, fill, state

SETS = {
    "reads": ["alerts:read", "events:read"],
    "writes": ["alerts:write", "alerts:read"],
    "has both": ["audits:read", "alerts:read"],
    "acks": ["alerts:ack"],
    "none": [],
}
SETS_AFTER = {
    "reads": ["alerts:read", "events:read", "audits:read"],
    "writes": ["alerts:write", "alerts:read", "audits:read", "audits:write"],
    "has both": ["audits:read", "alerts:read"],
    "acks": ["alerts:ack"],
    "none": [],
}


@dataclass(frozen=True)
class Case(Held):
    """A member before the migration, and its audit permissions afterwards."""

    audits: frozenset[str]


def case(permission_set: str | None, added: str, removed: str, audits: str) -> Case:
    return Case(permission_set, added.split(), removed.split(), frozenset(audits.split()))


MEMBERS = {
    "nothing": case(None, "", "", ""),
    "other things": case(None, "events:read", "queries:run", ""),
    "added read": case(None, "alerts:read", "", "audits:read"),
    "added both": case(None, "alerts:write events:add alerts:read", "", "audits:read audits:write"),
    "added ack": case(None, "alerts:ack", "", ""),
    "has audits": case(None, "alerts:read audits:read", "", "audits:read"),
    "by a set": case("reads", "", "", "audits:read"),
    "by a built-in set": case("admin", "", "", "audits:read audits:write"),
    "by a set and added": case("reads", "alerts:write", "", "audits:read audits:write"),
    "taken from a set": case("reads", "", "alerts:read", ""),
    "taken from a built-in set": case("admin", "", "alerts:write", "audits:read"),
    "one of two taken": case("writes", "", "alerts:write", "audits:read"),
    "added and taken": case(None, "alerts:read", "alerts:read", ""),
    "taken, yet given audits": case("reads", "audits:read", "alerts:read", "audits:read"),
    "audits taken before": case("reads", "alerts:read", "audits:read", ""),
    "ack taken": case("reads", "", "alerts:ack", "audits:read"),
}
KEYS = {"read": ["alerts:read"], "write": ["alerts:write", "events:add"], "ack": ["alerts:ack"]}


@pytest.fixture
def old(postgres_url: str) -> Iterator[Postgres]:
    """A database at revision 0003, with all kinds of members."""
    with empty_postgres(postgres_url) as url:
        postgres = Postgres(url, pool_size=1)
        try:
            migrate(postgres.engine, "0003")
            with postgres.transaction() as session:
                fill(session, SETS, MEMBERS, KEYS)
            yield postgres
        finally:
            postgres.close()


def test_members_and_sets_gain_what_they_had_of_alerts_and_keys_do_not(old: Postgres) -> None:
    before = state(old)
    migrate(old.engine, "0004")
    after = state(old)
    assert after.sets == SETS_AFTER
    assert after.keys == before.keys == KEYS
    audits = {"audits:read", "audits:write"}
    held = {name: after.effective(name) & audits for name in MEMBERS}
    assert held == {name: member.audits for name, member in MEMBERS.items()}
    for name in MEMBERS:
        assert after.effective(name) - audits == before.effective(name) - audits, name


def test_it_changes_nothing_the_second_time(old: Postgres) -> None:
    migrate(old.engine, "0004")
    once = state(old)
    migrate(old.engine, "0003")
    assert state(old) == once
    migrate(old.engine, "0004")
    assert state(old) == once


def test_later_decisions_stay_when_it_runs_again(old: Postgres) -> None:
    """A member who kept audits when alerts were removed keeps them."""
    migrate(old.engine, "0004")
    with old.transaction() as session:
        session.execute(
            text(
                "UPDATE memberships SET permission_removed = ARRAY['alerts:read']"
                " FROM users WHERE users.id = user_id AND email = 'added read'"
            )
        )
    migrate(old.engine, "0003")
    migrate(old.engine, "0004")
    assert state(old).effective("added read") == {"audits:read"}
