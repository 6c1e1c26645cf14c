"""A release that adds a permission gives it to whoever held all others, and to nobody else."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from shared.access.permissions import ADMIN_SET, ALL, BUILTIN_SETS, effective, require_may_grant
from shared.foundation.core.errors import Forbidden
from shared.foundation.postgres import Postgres
from shared.foundation.postgres.migrate import migrate
from shared.foundation.postgres.new_permission import FIRST
from shared.foundation.postgres.revisions import revisions
from tests.shared.foundation.postgres.test_effects import module_of
from tests.support.databases import empty_postgres
from tests.support.grants import Held, State, fill, state

OLD = sorted(FIRST)
LESS = [token for token in OLD if token != "queries:run"]
NEW = "events:delete"
STANDARD = BUILTIN_SETS["standard"].permissions

SETS = {"all": OLD, "most": LESS, "has it": [*LESS, NEW]}
KEYS = {
    "all": OLD,
    "with an old name": ["alerts:ack" if one == "incidents:ack" else one for one in OLD],
    "most": LESS,
    "has it": [*OLD, NEW],
    "none": [],
}


@dataclass(frozen=True)
class Case(Held):
    """A member before the migration, and whether the new permission is there afterwards."""

    gains: bool


MEMBERS = {
    "added all": Case(None, OLD, [], gains=True),
    "added most": Case(None, LESS, [], gains=False),
    "by a full set": Case("all", [], [], gains=True),
    "by a full set, less one": Case("all", [], ["queries:run"], gains=False),
    "by a full set, given it alone": Case("all", [NEW], ["queries:run"], gains=True),
    "by most of a set and the rest": Case("most", ["queries:run"], [], gains=True),
    "by most of a set": Case("most", [], [], gains=False),
    "by standard and the rest": Case("standard", sorted(FIRST - STANDARD), [], gains=True),
    "by standard": Case("standard", [], [], gains=False),
    "taken before": Case(None, OLD, [NEW], gains=False),
    "administrator": Case("admin", [], [], gains=True),
    "administrator, less one": Case("admin", [], ["queries:run"], gains=True),
    "nothing": Case(None, [], [], gains=False),
}


@pytest.fixture
def old(postgres_url: str) -> Iterator[Postgres]:
    """A database before the migration, with all kinds of holders."""
    with empty_postgres(postgres_url) as url:
        postgres = Postgres(url, pool_size=1)
        try:
            migrate(postgres.engine, "0023")
            with postgres.transaction() as session:
                fill(session, SETS, MEMBERS, KEYS)
            yield postgres
        finally:
            postgres.close()


def may_grant_admin(tokens: list[str]) -> bool:
    try:
        require_may_grant(BUILTIN_SETS[ADMIN_SET].permissions, effective(tokens))
    except Forbidden:
        return False
    return True


def migrated(old: Postgres) -> State:
    migrate(old.engine, "0024")
    return state(old)


def test_who_held_everything_can_still_make_an_administrator(old: Postgres) -> None:
    assert not may_grant_admin(OLD)
    after = migrated(old)
    able = {name for name, tokens in after.keys.items() if may_grant_admin(tokens)}
    assert able == {"all", "with an old name", "has it"}
    assert {name for name, tokens in after.sets.items() if NEW in tokens} == {"all", "has it"}
    holders = {name for name in MEMBERS if NEW in after.effective(name)}
    assert holders == {name for name, case in MEMBERS.items() if case.gains}


def test_nothing_else_changes_and_nothing_the_second_time(old: Postgres) -> None:
    before, after = state(old), migrated(old)
    for name in MEMBERS:
        assert after.effective(name) - {NEW} == before.effective(name) - {NEW}, name
    for name in ("most", "none"):
        assert after.keys[name] == before.keys[name]
    migrate(old.engine, "0023")
    assert migrated(old) == after


def test_every_permission_since_the_first_release_has_such_a_migration() -> None:
    """A token that joins the catalogue needs `gives` in its migration (CONTRIBUTING.md)."""
    given = {getattr(module_of(one), "gives", None) for one in revisions()} - {None}
    assert ALL - FIRST - {"keys:update", "orgs:admin"} == given
