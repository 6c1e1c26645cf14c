"""The place of a table's rows: one server, or the shards of a cluster.

A statement is written once, as a template without details of the deployment:

- `{table:events}` is a table or view; the first one in a statement is its subject;
- `{engine:ReplacingMergeTree(version)}` is the engine that stores the rows of a table;
- `{sharded_by:version}`, anywhere in a CREATE TABLE, is an expression that gives an integer; rows
  with the same integer are stored together. Without it all rows of a session are stored together
  (`SESSION`);
- `{database:analytics}` is a database.

On one server these are the names themselves, and `{sharded_by:…}` is empty. On a cluster a table
becomes two: `events_local` keeps the rows of a shard, `events` reads and writes all of them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# All rows of a session are on one shard, so every statement about a session is exact there.
SESSION = "cityHash64(org_id, session_id)"

_SETTINGS: Mapping[str, object] = {
    # An insert is answered when the shards have the rows, not when the rows wait on this server.
    "distributed_foreground_insert": 1,
    "async_insert": 0,
    # Copies are recognized by their key. A block that equals an earlier one is stored anyway: the
    # earlier one may have been deleted since. There are two names because later servers know the
    # second.
    "insert_deduplicate": 0,
    "deduplicate_insert": "disable",
    # Each shard evaluates a subquery of IN or JOIN alone, because sessions are never split.
    "distributed_product_mode": "local",
    # A shard that does not answer causes an error, never missing rows.
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
    """A layout that fills in templates for one server (`cluster` is None) or a cluster.

    Unqualified names are in `database`.
    """

    cluster: str | None = None
    database: str = "default"

    def statements(self, template: str) -> tuple[str, ...]:
        """Returns the statements that carry out `template`, in order.

        Raises `ValueError` if the form of the statement on a cluster is not known, for either
        layout.
        """
        template = template.strip()
        make = _form_of(template)
        if self.cluster is None:
            return (_fill(template, lambda kind, text: "" if kind == "sharded_by" else text),)
        return make(_ClusterTemplate(self.cluster, self.database, template))

    @property
    def settings(self) -> Mapping[str, object]:
        """Returns the settings of our statements on a cluster.

        docs/run/cluster.md gives the reasons.
        """
        return {} if self.cluster is None else _SETTINGS

    def kept_in(self, table: str) -> str:
        """Returns the name under which a server stores rows of `table`, as in `system.parts`."""
        return table if self.cluster is None else local(table)

    def public(self, kept_in: str) -> str:
        """Returns the table whose rows a server stores under that name."""
        return kept_in if self.cluster is None else kept_in.removesuffix(_LOCAL)

    def everywhere(self, system_table: str) -> str:
        """Returns the SQL for the rows of `system_table` on all servers."""
        if self.cluster is None:
            return system_table
        return f"clusterAllReplicas('{self.cluster}', {system_table})"


def local(table: str) -> str:
    """Returns the name of the table that keeps a shard's rows of `table`."""
    return table + _LOCAL


def _fill(template: str, text_of: Callable[[str, str], str]) -> str:
    return _SLOT.sub(lambda slot: text_of(slot.group(1), slot.group(2)), template)


@dataclass(frozen=True)
class _ClusterTemplate:
    """A template that is being adapted to a cluster."""

    cluster: str
    database: str
    template: str

    def create_table(self) -> tuple[str, ...]:
        """Creates the table of each shard, and the one over all of them."""
        [name] = _slots(self.template, "table")
        key = (_slots(self.template, "sharded_by") or [SESSION])[0]
        head = _fill(self.template.partition("(")[0], lambda _kind, _text: f"{name}{self._on}")
        over_all = (
            f"{head.rstrip()} AS {local(name)}\nENGINE = "
            f"Distributed('{self.cluster}', '{self.database}', '{local(name)}', {key})"
        )
        return (self._about_local(), over_all)

    def create_feed(self) -> tuple[str, ...]:
        """Feeds each shard's own table from its own rows, or changes the query that does."""
        return (self._rendered(subject=str, others=local),)

    def create_view(self) -> tuple[str, ...]:
        """Creates a view of all shards, on every server."""
        return (self._rendered(subject=str, others=str),)

    def drop_table(self) -> tuple[str, ...]:
        """Drops the table over all shards first, so that no query reaches for dropped tables.

        A view has no table on the shards; IF EXISTS skips it.
        """
        return (self._rendered(subject=str, others=str), self._about_local())

    def exchange_tables(self) -> tuple[str, ...]:
        """Exchanges the tables that keep rows; the tables over all shards refer to them by name."""
        first, second = _slots(self.template, "table")
        return (f"EXCHANGE TABLES {local(first)} AND {local(second)}{self._on}",)

    def alter_table(self) -> tuple[str, ...]:
        """Alters both tables if columns change, else only the one that keeps rows."""
        if not _COLUMN_CHANGE.search(self.template):
            return (self._about_local(),)
        both = (self._about_local(), self._rendered(subject=str, others=str))
        # A column must exist where it is read: the shards add it first and drop it last.
        return both[::-1] if " DROP COLUMN" in self.template else both

    def about_rows(self) -> tuple[str, ...]:
        """Runs on the rows of each shard, where they are stored."""
        return (self._about_local(),)

    def through_all(self) -> tuple[str, ...]:
        """Reads and inserts through the table over all shards."""
        return (_fill(self.template, self._other(str)),)

    @property
    def _on(self) -> str:
        return f" ON CLUSTER '{self.cluster}'"

    def _about_local(self) -> str:
        return self._rendered(subject=local, others=local)

    def _rendered(self, *, subject: Callable[[str], str], others: Callable[[str], str]) -> str:
        first = re.search(r"\{(?:table|database):([^}]+)\}", self.template)
        if first is None:
            raise ValueError(f"the statement has no slot with a name: {self.template}")
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


_FORMS: tuple[tuple[re.Pattern[str], Callable[[_ClusterTemplate], tuple[str, ...]]], ...] = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"CREATE TABLE ", _ClusterTemplate.create_table),
        (r"CREATE MATERIALIZED VIEW |ALTER TABLE \S+ MODIFY QUERY ", _ClusterTemplate.create_feed),
        (
            r"CREATE (?:OR REPLACE )?VIEW |(?:CREATE|DROP) DATABASE |DROP VIEW ",
            _ClusterTemplate.create_view,
        ),
        (r"DROP TABLE IF EXISTS ", _ClusterTemplate.drop_table),
        (r"EXCHANGE TABLES ", _ClusterTemplate.exchange_tables),
        (r"ALTER TABLE ", _ClusterTemplate.alter_table),
        (r"DELETE FROM |OPTIMIZE TABLE |TRUNCATE TABLE ", _ClusterTemplate.about_rows),
        (r"INSERT INTO |SELECT |EXISTS TABLE ", _ClusterTemplate.through_all),
    )
)


def _form_of(template: str) -> Callable[[_ClusterTemplate], tuple[str, ...]]:
    if template.startswith("CREATE TABLE ") and not _ENGINE.search(template):
        raise ValueError(f"write the engine as a slot, {{engine:…}}: {template}")
    if _COLUMN_CHANGE.search(template) and _OTHER_CHANGE.search(template):
        raise ValueError(f"change columns and other things in two statements: {template}")
    for pattern, form in _FORMS:
        if pattern.match(template):
            return form
    raise ValueError(f"the form of this statement on a cluster is not known: {template}")


def _slots(template: str, kind: str) -> list[str]:
    return [text for found, text in _SLOT.findall(template) if found == kind]
