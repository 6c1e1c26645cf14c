"""The effects of a migration's statements on a service that runs meanwhile."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"^\s*--[^\n]*", re.MULTILINE)
# Semicolons inside of texts and of functions end no statement.
_STATEMENT = re.compile(r"(?:'(?:[^']|'')*'|\$\$.*?\$\$|[^;'])+", re.DOTALL)
_IGNORED = re.compile(r"^(?:BEGIN|COMMIT|SET |UPDATE alembic_version|INSERT INTO alembic_version)")
_NAME = r'"?(\w+)"?'

_CREATE_TABLE = re.compile(rf"^CREATE TABLE {_NAME}")
_INDEX = re.compile(rf"^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?\w+ ON {_NAME}")
_ALTER = re.compile(rf"^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?{_NAME} (.*)", re.DOTALL)
_DROP_TABLE = re.compile(rf"^DROP TABLE (?:IF EXISTS )?{_NAME}")
_ROWS = re.compile(rf"^(?:UPDATE|DELETE FROM) {_NAME}")
_COPY = re.compile(rf"^INSERT INTO \w+.*?\bFROM {_NAME}", re.DOTALL)

# A default that PostgreSQL computes for each row anew rewrites the table.
_VOLATILE = re.compile(r"DEFAULT .*(?:random|clock_timestamp|nextval)", re.IGNORECASE)
_TAKES_AWAY = re.compile(r"^(?:DROP COLUMN|RENAME|ALTER COLUMN \w+ (?:TYPE|SET NOT NULL))")
_CHECKS_ROWS = re.compile(r"^(?:ADD (?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)|VALIDATE)")


@dataclass(frozen=True)
class Effect:
    """The effect of `statement` on a table that existed before.

    `reads`: it takes time in proportion to the table. `blocks`: writes of the service wait until
    the migration ends. `takes_away`: code that was written before may fail afterwards.
    """

    statement: str
    table: str
    reads: bool = False
    blocks: bool = False
    takes_away: bool = False


def effects_of(sql: str) -> Iterator[Effect]:
    """Yields the effects of a migration, statement by statement; none on tables that it creates."""
    made: set[str] = set()
    for piece in _STATEMENT.findall(_COMMENT.sub("", sql)):
        statement = piece.strip()
        if not statement or _IGNORED.match(statement):
            continue
        if created := _CREATE_TABLE.match(statement):
            made.add(created[1])
            continue
        for pattern, effect_of in _KINDS:
            if found := pattern.match(statement):
                effect = effect_of(statement, found)
                if effect.table not in made:
                    yield effect
                break


def _of_index(statement: str, found: re.Match[str]) -> Effect:
    return Effect(statement, found[2], reads=True, blocks=not found[1])


def _of_change(statement: str, found: re.Match[str]) -> Effect:
    table, change = found[1], found[2]
    if _TAKES_AWAY.match(change):
        rewrites = " TYPE " in change or "SET NOT NULL" in change
        return Effect(statement, table, reads=rewrites, blocks=rewrites, takes_away=True)
    if change.startswith("ADD COLUMN"):
        rewrites = bool(_VOLATILE.search(change))
        needed = "NOT NULL" in change and "DEFAULT" not in change
        return Effect(statement, table, rewrites, rewrites, takes_away=needed)
    if _CHECKS_ROWS.match(change):
        at_once = change.endswith("NOT VALID") or " USING INDEX " in change
        return Effect(statement, table, not at_once, blocks=not at_once and change[0] == "A")
    return Effect(statement, table)


def _of_drop(statement: str, found: re.Match[str]) -> Effect:
    return Effect(statement, found[1], takes_away=True)


def _of_rows(statement: str, found: re.Match[str]) -> Effect:
    return Effect(statement, found[1], reads=True, blocks=True)


def _of_copy(statement: str, found: re.Match[str]) -> Effect:
    return Effect(statement, found[1], reads=True)


_KINDS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Effect]], ...] = (
    (_INDEX, _of_index),
    (_ALTER, _of_change),
    (_DROP_TABLE, _of_drop),
    (_ROWS, _of_rows),
    (_COPY, _of_copy),
)
