"""The steps that a release will take on these databases, and about how long they will last.

Nothing is changed: PostgreSQL's migrations are written out as SQL, and ClickHouse's run on an
object that only notes their statements.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from sqlalchemy import text

from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.clickhouse.client import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres.effects import Effect, effects_of
from shared.foundation.postgres.migrate import statements_of
from shared.foundation.postgres.revisions import current_revision, file_of, revisions

# Low values, so that a plan errs on the long side. docs/run/deploy.md has measured ones.
POSTGRES_BYTES_A_SEC = 20e6
CLICKHOUSE_BYTES_A_SEC = 10e6

_COPY = re.compile(r"^INSERT INTO .*?\bFROM \{table:(\w+)\}", re.DOTALL)
_MATERIALIZE = re.compile(r"^ALTER TABLE \{table:(\w+)\} MATERIALIZE ", re.DOTALL)

_PARTS = """
SELECT sum(bytes_on_disk) FROM {parts}
WHERE active AND database = {{database:String}} AND table = {{table:String}}
"""


class MigrationStep(NamedTuple):
    """A migration: its name and purpose, and the seconds that it takes at least.

    `notes` say what it means for a service that runs meanwhile. `room` is the number of bytes that
    it needs in ClickHouse on top.
    """

    name: str
    purpose: str
    secs: float = 0.0
    notes: tuple[str, ...] = ()
    room: int = 0


def steps(runtime: Runtime) -> list[MigrationStep]:
    """Returns the steps that are left, in order. The databases must not be newer than this code."""
    return [*_postgres_steps(runtime), *_clickhouse_steps(runtime.clickhouse)]


def _postgres_steps(runtime: Runtime) -> Iterator[MigrationStep]:
    engine = runtime.postgres.engine
    current, ordered = current_revision(engine), revisions()
    done = 0 if current is None else ordered.index(current) + 1
    sql = "SELECT relname, pg_table_size(oid) FROM pg_class WHERE relkind = 'r'"
    with engine.connect() as connection:
        sizes = {name: int(size) for name, size in connection.execute(text(sql))}
    for revision in ordered[done:]:
        effects = list(effects_of(statements_of(revision)))
        secs = sum(_secs(effect, sizes) for effect in effects)
        notes = tuple(dict.fromkeys(_note(effect) for effect in effects if effect.blocks))
        purpose = _purpose(file_of(revision))
        yield MigrationStep(f"PostgreSQL {revision}", purpose, secs, notes)


def _secs(effect: Effect, sizes: Mapping[str, int]) -> float:
    return sizes.get(effect.table, 0) / POSTGRES_BYTES_A_SEC if effect.reads else 0.0


def _note(effect: Effect) -> str:
    return f"writes to {effect.table} wait meanwhile"


def _clickhouse_steps(clickhouse: ClickHouse) -> Iterator[MigrationStep]:
    for number in range(clickhouse_migrations.current_version(clickhouse) + 1, len(MIGRATIONS) + 1):
        yield _clickhouse_step(clickhouse, number, MIGRATIONS[number - 1])


def _clickhouse_step(clickhouse: ClickHouse, number: int, migration: ModuleType) -> MigrationStep:
    noted = _NotingDdl(clickhouse)
    migration.up(noted)
    room, notes = 0, []
    for template in noted.templates:
        if copied := _COPY.match(template):
            size = _size(clickhouse, copied[1])
            room += size
            notes.append(f"copies {copied[1]} ({size / 1e6:,.1f} MB); writes go on")
        elif (made := _MATERIALIZE.match(template)) and (size := _size(clickhouse, made[1])):
            secs = size / CLICKHOUSE_BYTES_A_SEC
            notes.append(f"ClickHouse goes on with {made[1]} afterwards, about {duration(secs)}")
    purpose = _first_sentence(migration.__doc__ or "")
    secs = room / CLICKHOUSE_BYTES_A_SEC
    return MigrationStep(
        f"ClickHouse {number:04d}", purpose, secs, tuple(dict.fromkeys(notes)), room
    )


class _NotingDdl(Ddl):
    """Notes the statements of a migration instead of running them."""

    def __init__(self, clickhouse: ClickHouse) -> None:
        super().__init__(clickhouse)
        self.templates: list[str] = []

    def run(self, template: str, _params: Mapping[str, object] | None = None) -> None:
        self.templates.append(template.strip())

    def wait_for_inserts(self) -> None:
        """Returns at once: nothing changed that an insert could have missed."""


def _size(clickhouse: ClickHouse, table: str) -> int:
    layout = clickhouse.layout
    rows = clickhouse.rows(
        _PARTS.format(parts=layout.everywhere("system.parts")),
        {"database": layout.database, "table": layout.kept_in(table)},
    )
    return int(rows[0][0] or 0)


def _purpose(path: Path) -> str:
    return _first_sentence(ast.get_docstring(ast.parse(path.read_text())) or "")


def _first_sentence(docstring: str) -> str:
    return " ".join(re.split(r"[.;:](?:\s|$)", docstring.strip(), maxsplit=1)[0].split())


def duration(secs: float) -> str:
    """Returns a time in words, with few digits."""
    if secs < 1:
        return "1 s at most"
    return f"{secs:.0f} s" if secs < 100 else f"{secs / 60:.0f} min"
