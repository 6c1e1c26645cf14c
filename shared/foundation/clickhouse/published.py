"""The tables that people's SQL may read: views that each release creates again.

Each column is defined here once, for the view and for GET /queries/schema. The views have the
rights of `watchpost_views`. This user cannot log in, and a row policy shows it only the rows of the
organization that the running query's id begins with. docs/use/queries.md explains all of it.
"""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from shared.foundation.clickhouse.client import ClickHouse
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS, EventColumn, order_key_of
from shared.foundation.clickhouse.root_agent import first_event, first_started, root_agent
from shared.foundation.core.errors import ConfigurationError

DEFINER = "watchpost_views"
# The row policy on the tables. The views repeat it, so that they filter even on a server that lacks
# the policy (measured: no difference, both end up in the primary key).
POLICY = "org_id = splitByChar(':', initialQueryID())[1]"


# The type names of the schema, by the beginnings of ClickHouse's type names.
_KINDS = {
    "String": "string",
    "UInt": "int",
    "Float": "float",
    "DateTime": "timestamp",
    "Bool": "bool",
    "Array": "array",
    "Map": "map",
}


class PublishedColumn(NamedTuple):
    """A column of a view; `is_json` marks a text that is JSON."""

    name: str
    expression: str
    type: str
    is_json: bool = False

    @property
    def kind(self) -> str:
        """Returns the type as the schema shows it, with `?` if it can be null."""
        if self.is_json:
            return "json"
        nullable = self.type.startswith("Nullable(")
        plain = self.type.removeprefix("Nullable(")
        [kind] = [kind for prefix, kind in _KINDS.items() if plain.startswith(prefix)]
        return f"{kind}?" if nullable else kind


class PublishedTable(NamedTuple):
    """A view that selects from `source`; `{events}` in it is the base table of that name."""

    name: str
    columns: tuple[PublishedColumn, ...]
    source: str


_LOW_CARDINALITY = re.compile(r"LowCardinality\((String|Nullable\(String\))\)")
_MOMENT = "DateTime64(6, 'UTC')"


def _plain(name: str, type_: str, *, is_json: bool = False) -> PublishedColumn:
    return PublishedColumn(name, f"t.{name}", type_, is_json)


def _text(name: str, type_: str = "String") -> PublishedColumn:
    # The base table has LowCardinality, the view must not: ClickHouse may evaluate a function of
    # such a column on the whole dictionary of a part, which also holds values of other
    # organizations.
    return PublishedColumn(name, f"CAST(t.{name}, '{type_}')", type_)


def _amount(name: str) -> PublishedColumn:
    # Results show a decimal as text, and people want to draw and compare amounts.
    return _text(name, "Nullable(Float64)")


# FINAL merges copies of a row while reading, so counts and sums are exact after resends.
_FROM = "FROM {{{name}}} AS t FINAL WHERE {policy}"


def _of_events(column: EventColumn) -> PublishedColumn:
    if "Decimal(" in column.type:
        return _amount(column.name)
    if "LowCardinality(" in column.type:
        return _text(column.name, _LOW_CARDINALITY.sub(r"\1", column.type))
    return _plain(column.name, column.type, is_json=column.name == "payload")


_EVENTS = PublishedTable(
    "events",
    tuple(_of_events(column) for column in EVENT_COLUMNS if column.published),
    _FROM.format(name="events", policy=POLICY),
)

# Computed from the events alone, because the table agent_sessions has no counts. Columns that are
# not selected are not computed: for a million events a count of sessions takes 0.1 s, all columns
# take 0.9 s.
_AGENT = "CAST(e.agent_id, 'String')"
_PLACE = order_key_of("e").strip("()")
_TOKENS = tuple(
    column.name
    for column in EVENT_COLUMNS
    if column.name.endswith("_tokens") and "audio" not in column.name
)
_AMOUNTS = ("cost_usd", "reported_usd", "computed_usd")
_SUMS = ",\n        ".join(
    [
        *(f"sum(coalesce(e.{name}, 0)) AS {name}" for name in _TOKENS),
        "countIf(isNotNull(e.cost_source)) AS model_calls",
        "countIf(e.cost_source = 'unpriced') AS unpriced_calls",
        *(f"sum(e.{name}) AS {name}" for name in _AMOUNTS),
    ]
)
_GROUPED = f"""FROM (
    SELECT
        e.session_id AS session_id,
        {first_event("e", "e.id")} AS first_event,
        {first_started("e")} AS first_started,
        sumMap(map({_AGENT}, toUInt64(1))) AS counts,
        maxMapIf(map({_AGENT}, e.ts), e.event_type = 'agent_end') AS ends,
        count() AS event_count,
        countIf(e.is_error) AS error_count,
        min(e.ts) AS started_at,
        max(e.ts) AS last_event_at,
        argMax(e.id, {order_key_of("e")}) AS last_event_id,
        argMinIf(assumeNotNull(e.user_id), {order_key_of("e")}, isNotNull(e.user_id)) AS first_user,
        minMapIf(
            map({_AGENT}, ({_PLACE}, CAST(assumeNotNull(e.agent_version), 'String'))),
            isNotNull(e.agent_version)
        ) AS versions,
        groupUniqArrayArray(CAST(e.tags, 'Array(String)')) AS tags,
        minMap(
            mapApply((k, v) -> (CAST(k, 'String'), ({_PLACE}, v)), e.attributes)
        ) AS attributes,
        {_SUMS}
    FROM {{events}} AS e FINAL
    WHERE {POLICY}
    GROUP BY e.session_id
) AS t"""
_ROOT = root_agent("t.first_event", "t.first_started")
_AGENTS_TYPE = "Array(Tuple(agent_id String, event_count UInt64))"

_AGENT_SESSIONS = PublishedTable(
    "agent_sessions",
    (
        _plain("session_id", "String"),
        PublishedColumn("agent_id", _ROOT, "String"),
        PublishedColumn(
            "agents",
            f"CAST(arraySort(a -> (-a.2, a.1), CAST(t.counts, 'Array(Tuple(String, UInt64))')),"
            f" '{_AGENTS_TYPE}')",
            _AGENTS_TYPE,
        ),
        PublishedColumn("environment", "t.first_event.2", "String"),
        _plain("event_count", "UInt64"),
        _plain("error_count", "UInt64"),
        _plain("started_at", _MOMENT),
        _plain("last_event_at", _MOMENT),
        PublishedColumn(
            "ended_at",
            f"if(mapContains(t.ends, {_ROOT}), t.ends[{_ROOT}], NULL)",
            f"Nullable({_MOMENT})",
        ),
        PublishedColumn("first_event_id", "t.first_event.3", "UInt64"),
        _plain("last_event_id", "UInt64"),
        PublishedColumn("user_id", "nullIf(t.first_user, '')", "Nullable(String)"),
        PublishedColumn(
            "agent_version",
            f"nullIf(if(mapContains(t.versions, {_ROOT}), t.versions[{_ROOT}].4,"
            " arraySort(mapValues(t.versions))[1].4), '')",
            "Nullable(String)",
        ),
        PublishedColumn("tags", "arraySlice(arraySort(t.tags), 1, 64)", "Array(String)"),
        PublishedColumn(
            "attributes",
            "CAST(arraySlice(arraySort(arrayZip(mapKeys(t.attributes),"
            " arrayMap(v -> v.4, mapValues(t.attributes)))), 1, 64), 'Map(String, String)')",
            "Map(String, String)",
        ),
        *(_plain(name, "UInt64") for name in _TOKENS),
        _plain("model_calls", "UInt64"),
        _plain("unpriced_calls", "UInt64"),
        *map(_amount, _AMOUNTS),
    ),
    _GROUPED,
)

_EVALUATIONS = PublishedTable(
    "evaluations",
    (
        _plain("evaluation_id", "String"),
        PublishedColumn("id", "t.evaluation_id", "String"),
        _plain("session_id", "String"),
        _text("agent_id"),
        _text("environment"),
        _text("status"),
        PublishedColumn("scores", "CAST(t.scores, 'Map(String, Float64)')", "Map(String, Float64)"),
        PublishedColumn(
            "reasoning", "CAST(t.reasoning, 'Map(String, String)')", "Map(String, String)"
        ),
        _plain("summary", "Nullable(String)"),
        _plain("error", "Nullable(String)"),
        _plain("attempt_count", "UInt32"),
        _plain("duration_ms", "Nullable(UInt32)"),
        _plain("completed_at", _MOMENT),
        PublishedColumn("created_at", "t.completed_at", _MOMENT),
    ),
    _FROM.format(name="evaluations", policy=POLICY),
)

_RESULT_FIELDS = (
    "evaluation_id, session_id, agent_id, environment, evaluator, evaluator_version, trigger,"
    " status, scores, reasoning, error, input_tokens, output_tokens, cost_usd, completed_at,"
    " results"
)
_RESULT_TYPE = (
    "Array(Tuple(key String, kind String, number Nullable(Float64), label Nullable(String),"
    " text Nullable(String), passed Nullable(Bool), unit Nullable(String), labels Array(String),"
    " evidence Array(String), flags Array(String)))"
)
_NUMBERS = (
    "CAST(arrayMap((k, v) -> (k, 'number', v, NULL, NULL, NULL, NULL, [], [], []),"
    f" mapKeys(scores), mapValues(scores)), '{_RESULT_TYPE}')"
)
# A result without kinds has numbers. An evaluation without any result is a row, too.
_EACH_RESULT = f"""FROM (
    SELECT *, if(empty(results), {_NUMBERS}, CAST(results, '{_RESULT_TYPE}')) AS items
    FROM (
        SELECT {_RESULT_FIELDS} FROM {{{{evaluations}}}} AS t FINAL WHERE {{policy}}
        UNION ALL
        SELECT {_RESULT_FIELDS} FROM {{{{own_evaluations}}}} AS t FINAL WHERE {{policy}}
    )
) AS t LEFT ARRAY JOIN t.items AS item"""


def _of_result(name: str, type_: str, field: str | None = None) -> PublishedColumn:
    return PublishedColumn(name, f"CAST(item.{field or name}, '{type_}')", type_)


_RESULTS = PublishedTable(
    "results",
    (
        _plain("evaluation_id", "String"),
        _plain("session_id", "String"),
        _text("agent_id"),
        _text("environment"),
        _text("evaluator"),
        _text("evaluator_version", "Nullable(String)"),
        _text("trigger", "Nullable(String)"),
        _text("status"),
        _of_result("key", "String"),
        _of_result("kind", "String"),
        _of_result("number", "Nullable(Float64)"),
        _of_result("passed", "Nullable(Bool)"),
        _of_result("label", "Nullable(String)"),
        _of_result("text", "Nullable(String)"),
        _of_result("unit", "Nullable(String)"),
        PublishedColumn("reasoning", "t.reasoning[item.key]", "String"),
        _plain("error", "Nullable(String)"),
        _plain("input_tokens", "Nullable(UInt64)"),
        _plain("output_tokens", "Nullable(UInt64)"),
        _plain("cost_usd", "Nullable(Float64)"),
        _plain("completed_at", _MOMENT),
    ),
    _EACH_RESULT.format(policy=POLICY),
)

TABLES: tuple[PublishedTable, ...] = (_EVENTS, _AGENT_SESSIONS, _EVALUATIONS, _RESULTS)
# The tables below the views, which `DEFINER` may read under the policy.
BASE_TABLES = ("events", "evaluations", "own_evaluations")


def schema_of(readonly_url: str) -> str:
    """Returns the database of the views, which CLICKHOUSE_READONLY_URL names.

    Raises `ConfigurationError` if the URL names none, or not by a plain name.
    """
    name = urlsplit(readonly_url).path.strip("/")
    if not (name.isascii() and name.isidentifier()):
        raise ConfigurationError(
            "CLICKHOUSE_READONLY_URL: expected the views' database as its path"
        )
    return name


def publish(clickhouse: ClickHouse, readonly_url: str) -> None:
    """Creates the views or replaces those of an earlier release; needs the rights to do so.

    Raises `ConfigurationError` if something else has the name of a view.
    """
    schema = schema_of(readonly_url)
    [(database,)] = clickhouse.rows("SELECT currentDatabase()")
    _require_free(clickhouse, schema, database)
    ddl = Ddl(clickhouse)
    if not clickhouse.rows("SELECT 1 FROM system.databases WHERE name = {s:String}", {"s": schema}):
        ddl.run(f"CREATE DATABASE IF NOT EXISTS {{database:{schema}}}")
    for table in TABLES:
        ddl.run(statement(table, schema, database))


def statement(table: PublishedTable, schema: str, database: str) -> str:
    """Returns the template of the view's DDL: in `schema`, over the base tables in `database`."""
    columns = ",\n    ".join(f"{column.expression} AS {column.name}" for column in table.columns)
    source = table.source.format(**{name: f"`{database}`.{name}" for name in BASE_TABLES})
    return (
        f"CREATE OR REPLACE VIEW {{table:{schema}.{table.name}}}\n"
        f"DEFINER = {DEFINER} SQL SECURITY DEFINER AS\n"
        f"SELECT\n    {columns}\n{source}"
    )


def _require_free(clickhouse: ClickHouse, schema: str, database: str) -> None:
    if schema == database:
        raise ConfigurationError(
            "CLICKHOUSE_READONLY_URL names the database of the tables: name another for the views"
        )
    taken = clickhouse.rows(
        "SELECT name FROM system.tables WHERE database = {schema:String}"
        " AND name IN {names:Array(String)} AND engine != 'View'",
        {"schema": schema, "names": [table.name for table in TABLES]},
    )
    if taken:
        raise ConfigurationError(
            f"CLICKHOUSE_READONLY_URL: {schema}.{taken[0][0]} is a table but must be a view"
        )
