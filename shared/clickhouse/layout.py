"""Where a table's rows lie: on one server, or on the shards of a cluster.

A statement is written once, as a template, and names nothing of the deployment:

- `{table:events}` a table or view; the first one of a statement is what the statement is about;
- `{engine:ReplacingMergeTree(version)}` what keeps a table's rows;
- `{sharded_by:version}`, anywhere in a CREATE TABLE: which rows belong together, as an expression
  that gives an integer. Without it all rows of a session are together, `SESSION`;
- `{database:analytics}` a database.

On one server these are the names themselves, and `{sharded_by:…}` is nothing. On a cluster a table
is two: `events_local` keeps the rows of a shard, `events` reads and writes all of them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# All rows of a session are on one shard, so whatever is asked about a session is exact there.
SESSION = "cityHash64(org_id, session_id)"

_SETTINGS: Mapping[str, object] = {
    # An insert is answered when the shards have the rows, not when they wait on this server.
    "distributed_foreground_insert": 1,
    "async_insert": 0,
    # Copies are told by their key. A block that looks like one before it is stored all the same:
    # it may have been deleted since. Two names, of which later servers know the second.
    "insert_deduplicate": 0,
    "deduplicate_insert": "disable",
    # A subquery of IN or JOIN is answered by each shard for itself: sessions are never split.
    "distributed_product_mode": "local",
    # A shard that does not answer is an error and never rows that are missing.
    "skip_unavailable_shards": 0,
}

_LOCAL = "_local"

_SLOT = re.compile(r"\{(table|engine|sharded_by|database):([^}]+)\}")
_ENGINE = re.compile(r"ENGINE = \{engine:")
_ENGINE_PARTS = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)
_COLUMN_CHANGE = re.compile(r"\b(?:ADD|DROP|MODIFY|RENAME|COMMENT) COLUMN\b")
_OTHER_CHANGE = re.compile(
    r"\b(?:ADD|DROP|MATERIALIZE|CLEAR) (?:INDEX|PROJECTION|STATISTICS|PARTITION|CONSTRAINT)\b"
    r"|\b(?:MODIFY|RESET) (?:SETTING|TTL|ORDER BY|SAMPLE BY)\b"
    r"|\b(?:MATERIALIZE|CLEAR) COLUMN\b|\}\s+(?:DELETE|UPDATE)\b"
)


@dataclass(frozen=True)
class Layout:
    """Fills in templates for one server (`cluster` is None) or for the cluster of that name.

    `database` is the one that unqualified names are in.
    """

    cluster: str | None = None
    database: str = "default"

    def statements(self, template: str) -> tuple[str, ...]:
        """The statements that do what `template` says, in order.

        Raises `ValueError` for one whose form on a cluster is not known, whichever layout this is.
        """
        template = template.strip()
        make = _form_of(template)
        if self.cluster is None:
            return (_fill(template, lambda kind, text: "" if kind == "sharded_by" else text),)
        return make(_Sharded(self.cluster, self.database, template))

    @property
    def settings(self) -> Mapping[str, object]:
        """What every statement of ours is under on a cluster; docs/cluster.md gives the reasons."""
        return {} if self.cluster is None else _SETTINGS

    def kept_in(self, table: str) -> str:
        """The name under which a server keeps rows of `table`, as `system.parts` knows it."""
        return table if self.cluster is None else local(table)

    def public(self, kept_in: str) -> str:
        """The table whose rows a server keeps under that name."""
        return kept_in if self.cluster is None else kept_in.removesuffix(_LOCAL)

    def everywhere(self, system_table: str) -> str:
        """SQL of the rows that `system_table` has on every server."""
        if self.cluster is None:
            return system_table
        return f"clusterAllReplicas('{self.cluster}', {system_table})"


def local(table: str) -> str:
    """The name of the table that keeps a shard's rows of `table`."""
    return table + _LOCAL


def _fill(template: str, text_of: Callable[[str, str], str]) -> str:
    return _SLOT.sub(lambda slot: text_of(slot.group(1), slot.group(2)), template)


@dataclass(frozen=True)
class _Sharded:
    """A template on its way to a cluster."""

    cluster: str
    database: str
    template: str

    def create_table(self) -> tuple[str, ...]:
        """The table of each shard, and the one over all of them."""
        [name] = _slots(self.template, "table")
        key = (_slots(self.template, "sharded_by") or [SESSION])[0]
        head = _fill(self.template.partition("(")[0], lambda _kind, _text: f"{name}{self._on}")
        over_all = (
            f"{head.rstrip()} AS {local(name)}\nENGINE = "
            f"Distributed('{self.cluster}', '{self.database}', '{local(name)}', {key})"
        )
        return (self._about_local(), over_all)

    def create_feed(self) -> tuple[str, ...]:
        """A shard's own rows feed its own table."""
        return (self._rendered(subject=str, others=local),)

    def create_view(self) -> tuple[str, ...]:
        """A view of all shards, on every server."""
        return (self._rendered(subject=str, others=str),)

    def drop_table(self) -> tuple[str, ...]:
        """The one over all shards first, so that nobody asks shards for what they no longer have.

        A view has no table of each shard; IF EXISTS passes over it.
        """
        return (self._rendered(subject=str, others=str), self._about_local())

    def exchange_tables(self) -> tuple[str, ...]:
        """The tables that keep rows; those over all shards have their names and find the others."""
        first, second = _slots(self.template, "table")
        return (f"EXCHANGE TABLES {local(first)} AND {local(second)}{self._on}",)

    def alter_table(self) -> tuple[str, ...]:
        """Columns are known to both tables, everything else to the one that keeps rows."""
        if not _COLUMN_CHANGE.search(self.template):
            return (self._about_local(),)
        both = (self._about_local(), self._rendered(subject=str, others=str))
        # A column that is asked for has to be there: it comes to the shards first and goes last.
        return both[::-1] if " DROP COLUMN" in self.template else both

    def about_rows(self) -> tuple[str, ...]:
        """What is done to the rows of each shard, where they lie."""
        return (self._about_local(),)

    def through_all(self) -> tuple[str, ...]:
        """Reads and inserts go by the table over all shards."""
        return (_fill(self.template, self._other(str)),)

    @property
    def _on(self) -> str:
        return f" ON CLUSTER '{self.cluster}'"

    def _about_local(self) -> str:
        return self._rendered(subject=local, others=local)

    def _rendered(self, *, subject: Callable[[str], str], others: Callable[[str], str]) -> str:
        first = re.search(r"\{(?:table|database):([^}]+)\}", self.template)
        if first is None:
            raise ValueError(f"the statement names nothing: {self.template}")
        before, after = self.template[: first.start()], self.template[first.end() :]
        text_of = self._other(others)
        return f"{before}{subject(first.group(1))}{self._on}{_fill(after, text_of)}"

    def _other(self, others: Callable[[str], str]) -> Callable[[str, str], str]:
        def text_of(kind: str, text: str) -> str:
            if kind == "table":
                return others(text)
            if kind == "engine":
                return self._engine(text)
            return "" if kind == "sharded_by" else text

        return text_of

    def _engine(self, engine: str) -> str:
        parts = _ENGINE_PARTS.fullmatch(engine)
        if parts is None:
            raise ValueError(f"not an engine: {engine}")
        name, arguments = parts.groups()
        [table] = _slots(self.template, "table")
        path = f"'/clickhouse/tables/{{shard}}/{self.database}/{local(table)}'"
        all_arguments = ", ".join([path, "'{replica}'", *([arguments] if arguments else [])])
        return f"Replicated{name}({all_arguments})"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[_Sharded], tuple[str, ...]]], ...] = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"CREATE TABLE ", _Sharded.create_table),
        (r"CREATE MATERIALIZED VIEW ", _Sharded.create_feed),
        (
            r"CREATE (?:OR REPLACE )?VIEW |(?:CREATE|DROP) DATABASE |DROP VIEW ",
            _Sharded.create_view,
        ),
        (r"DROP TABLE IF EXISTS ", _Sharded.drop_table),
        (r"EXCHANGE TABLES ", _Sharded.exchange_tables),
        (r"ALTER TABLE ", _Sharded.alter_table),
        (r"DELETE FROM |OPTIMIZE TABLE |TRUNCATE TABLE ", _Sharded.about_rows),
        (r"INSERT INTO |SELECT |EXISTS TABLE ", _Sharded.through_all),
    )
)


def _form_of(template: str) -> Callable[[_Sharded], tuple[str, ...]]:
    if template.startswith("CREATE TABLE ") and not _ENGINE.search(template):
        raise ValueError(f"the engine is no slot: {template}")
    if _COLUMN_CHANGE.search(template) and _OTHER_CHANGE.search(template):
        raise ValueError(f"columns and other things are changed by two statements: {template}")
    for pattern, form in _FORMS:
        if pattern.match(template):
            return form
    raise ValueError(f"what this is on a cluster is not known: {template}")


def _slots(template: str, kind: str) -> list[str]:
    return [text for found, text in _SLOT.findall(template) if found == kind]
