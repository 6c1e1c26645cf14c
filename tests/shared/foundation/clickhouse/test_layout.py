"""The statements of the migrations for one server, and for a cluster.

No cluster runs here. Its statements are compared as text, and a ClickHouse parses them.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from shared.foundation.clickhouse import ClickHouse, Row
from shared.foundation.clickhouse.ddl import Ddl
from shared.foundation.clickhouse.kept import KEPT
from shared.foundation.clickhouse.layout import Layout
from shared.foundation.clickhouse.migrate import _LEDGER
from shared.foundation.clickhouse.migrations import MIGRATIONS
from shared.foundation.clickhouse.published import TABLES, statement
from shared.foundation.deployment.runtime import Runtime
from shared.upkeep.purge.in_clickhouse import _DELETE, _DELETE_HIDDEN
from shared.upkeep.retention import statements
from shared.upkeep.retention.limits import RetentionLimit

ONE = Layout(None, "watchpost")
CLUSTER = Layout("main", "watchpost")

# Hashes of the statements of release 1. A released migration never changes.
RELEASED = {
    "m0001_events": "47271187862e83755eefa211abc48be38f7d6520ee1d0b15a85ac82ef0d3663b",
    "m0002_evaluations": "bb653c7b0222be84a48d4276ffe7cd4ba8aa317b673c955cf5bda5d621d8036a",
}


VIEWS = [statement(table, "analytics", "watchpost") for table in TABLES]

_LIMIT = RetentionLimit(datetime(2026, 1, 1, tzinfo=UTC), 30, ("a", "b"))
_KEPT_AND_OLD = [
    (kept, statements.old_rows(kept, [_LIMIT, _LIMIT]), 202512 if kept.by_month else 0)
    for kept in KEPT
    if kept.moment is not None
]
REMOVALS = [
    statements.write_again("events", "202512"),
    *(change(*one) for change in (statements.hide, statements.remove) for one in _KEPT_AND_OLD),
    *(delete.format(table="events") for delete in (_DELETE, _DELETE_HIDDEN)),
]


class Said(ClickHouse):
    """Records the statements for one layout and executes none."""

    def __init__(self, cluster: str | None) -> None:
        super().__init__("clickhouse://nobody@127.0.0.1:1/watchpost", cluster=cluster)
        self.statements: list[str] = []

    def execute(self, sql: str, _params: Mapping[str, object] | None = None) -> None:
        # `Ddl` adds these words, so that a migration that was killed can run again.
        self.statements.append(
            sql.replace(" IF NOT EXISTS ", " ", 1 if sql[:7] == "CREATE " else 0)
        )

    def rows(self, *_args: object, **_kwargs: object) -> list[Row]:
        """Returns the rows of a server without any tables or queries."""
        return []


def said(cluster: str | None) -> dict[str, Sequence[str]]:
    """Returns the statements of `up` and then `down`, by migration."""
    found: dict[str, Sequence[str]] = {}
    for migration in MIGRATIONS:
        listener = Said(cluster)
        migration.up(Ddl(listener))
        migration.down(Ddl(listener))
        found[migration.__name__.rpartition(".")[2]] = listener.statements
    return found


def test_released_migrations_never_change() -> None:
    now = said(None)
    assert {
        name: hashlib.sha256("\0".join(now[name]).encode()).hexdigest() for name in RELEASED
    } == RELEASED


def test_to_one_server_a_slot_is_what_stands_in_it() -> None:
    [ledger] = ONE.statements(_LEDGER)
    assert ledger.startswith("CREATE TABLE IF NOT EXISTS schema_migrations (")
    assert ledger.endswith("ENGINE = MergeTree\nORDER BY (version, at)")


def test_every_statement_for_a_cluster_is_one_that_clickhouse_parses(runtime: Runtime) -> None:
    told = [text for found in said("main").values() for text in found]
    templates = [_LEDGER, *VIEWS, *REMOVALS]
    told += [text for template in templates for text in CLUSTER.statements(template)]
    assert len(told) > 20
    for text in told:
        [(parsed,)] = runtime.clickhouse.rows("SELECT formatQuery({text:String})", {"text": text})
        named = parsed.replace("`", "").replace("'", "")
        assert "ON CLUSTER main" in named or text.startswith("INSERT INTO "), text
        assert not re.search(r"\{(?:table|engine|sharded_by|database):", text), text


def test_on_a_cluster_each_table_is_a_replicated_one_and_one_over_all_shards() -> None:
    local, over_all = said("main")["m0001_events"][:2]
    assert local.startswith("CREATE TABLE events_local ON CLUSTER 'main' (\n    org_id LowCard")
    assert (
        "ENGINE = ReplicatedReplacingMergeTree("
        "'/clickhouse/tables/{shard}/watchpost/events_local', '{replica}', version)\n"
        "PARTITION BY toYYYYMM(ts)\nORDER BY (org_id, ts, session_id, id)"
    ) in local
    assert over_all == (
        "CREATE TABLE events ON CLUSTER 'main' AS events_local\n"
        "ENGINE = Distributed('main', 'watchpost', 'events_local', cityHash64(org_id, session_id))"
    )


def test_on_a_cluster_a_feed_reads_and_writes_what_its_own_shard_keeps() -> None:
    [feed] = [text for text in said("main")["m0001_events"] if text.startswith("CREATE MAT")]
    assert feed.startswith(
        "CREATE MATERIALIZED VIEW agent_sessions_feed ON CLUSTER 'main' TO agent_sessions_local AS"
    )
    assert re.search(r"\nFROM events_local\nGROUP BY org_id, session_id$", feed)


def test_the_rows_of_a_session_are_on_one_shard_in_every_table_with_sessions() -> None:
    by_table = {
        found.group(1): found.group(2)
        for found_in in said("main").values()
        for text in found_in
        if (
            found := re.search(
                r"^CREATE TABLE (\w+) .*Distributed\('\w+', '\w+', '\w+', (.+)\)$", text, re.S
            )
        )
    }
    assert {"events", "agent_sessions", "evaluations"} <= by_table.keys()
    assert {by_table[name] for name in ("events", "agent_sessions", "evaluations")} == {
        "cityHash64(org_id, session_id)"
    }


def test_the_ledger_is_spread_by_its_version() -> None:
    local, over_all = CLUSTER.statements(_LEDGER)
    assert local.startswith(
        "CREATE TABLE IF NOT EXISTS schema_migrations_local ON CLUSTER 'main' ("
    )
    assert local.endswith("/schema_migrations_local', '{replica}')\nORDER BY (version, at)")
    assert over_all.startswith("CREATE TABLE IF NOT EXISTS schema_migrations ON CLUSTER 'main' AS")
    assert over_all.endswith("'schema_migrations_local', version)")


ON = "ON CLUSTER 'main'"


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        (
            "DROP TABLE IF EXISTS {table:events} SYNC",
            (
                f"DROP TABLE IF EXISTS events {ON} SYNC",
                f"DROP TABLE IF EXISTS events_local {ON} SYNC",
            ),
        ),
        (
            "ALTER TABLE {table:events} ADD COLUMN x String",
            (
                f"ALTER TABLE events_local {ON} ADD COLUMN x String",
                f"ALTER TABLE events {ON} ADD COLUMN x String",
            ),
        ),
        (
            "ALTER TABLE {table:events} DROP COLUMN IF EXISTS x",
            (
                f"ALTER TABLE events {ON} DROP COLUMN IF EXISTS x",
                f"ALTER TABLE events_local {ON} DROP COLUMN IF EXISTS x",
            ),
        ),
        (
            "ALTER TABLE {table:events} ADD INDEX i (x) TYPE minmax",
            (f"ALTER TABLE events_local {ON} ADD INDEX i (x) TYPE minmax",),
        ),
        (
            "ALTER TABLE {table:events} DELETE WHERE org_id = {org_id:String}",
            (f"ALTER TABLE events_local {ON} DELETE WHERE org_id = {{org_id:String}}",),
        ),
        (
            "DELETE FROM {table:events} WHERE ts < {limit:Int64}",
            (f"DELETE FROM events_local {ON} WHERE ts < {{limit:Int64}}",),
        ),
        (
            "INSERT INTO {table:agent_sessions} SELECT * FROM {table:events}",
            ("INSERT INTO agent_sessions SELECT * FROM events",),
        ),
        (
            "EXCHANGE TABLES {table:events} AND {table:others}",
            (f"EXCHANGE TABLES events_local AND others_local {ON}",),
        ),
        (
            "CREATE OR REPLACE VIEW {table:x.events} DEFINER = v AS SELECT * FROM {table:events}",
            (f"CREATE OR REPLACE VIEW x.events {ON} DEFINER = v AS SELECT * FROM events",),
        ),
        (
            "DROP VIEW IF EXISTS {table:analytics.events}",
            (f"DROP VIEW IF EXISTS analytics.events {ON}",),
        ),
        (
            "CREATE DATABASE IF NOT EXISTS {database:analytics}",
            (f"CREATE DATABASE IF NOT EXISTS analytics {ON}",),
        ),
    ],
)
def test_on_a_cluster(runtime: Runtime, template: str, texts: Sequence[str]) -> None:
    assert CLUSTER.statements(template) == tuple(texts)
    for text in texts:
        runtime.clickhouse.rows("SELECT formatQuery({text:String})", {"text": text})


@pytest.mark.parametrize(
    "template",
    [
        "RENAME TABLE {table:a} TO {table:b}",
        "CREATE TABLE {table:a} (x UInt8) ENGINE = MergeTree ORDER BY x",
        "ALTER TABLE {table:a} ADD COLUMN x UInt8, ADD INDEX i (x) TYPE minmax",
    ],
)
@pytest.mark.parametrize("layout", [ONE, CLUSTER])
def test_statements_without_a_cluster_form_are_refused_everywhere(
    layout: Layout, template: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(template)):
        layout.statements(template)


def test_on_a_cluster_inserts_wait_for_the_shards_and_no_shard_is_left_out() -> None:
    assert CLUSTER.settings == {
        "distributed_foreground_insert": 1,
        "async_insert": 0,
        "insert_deduplicate": 0,
        "deduplicate_insert": "disable",
        "distributed_product_mode": "local",
        "skip_unavailable_shards": 0,
    }
    assert ONE.settings == {}
