"""The places of an organization that mention a word: tables, hidden rows, and keys of Redis."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import inspect, text

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import dead_letters
from shared.upkeep.deletions import in_clickhouse
from tests.support.runtime import Org


def places(runtime: Runtime, org: Org, *words: str) -> set[str]:
    """Returns the tables and keys of the organization that contain one of the words."""
    return {
        *_in_clickhouse(runtime, org, words),
        *_in_postgres(runtime, org, words),
        *_in_redis(runtime, org, words),
    }


def _in_clickhouse(runtime: Runtime, org: Org, words: tuple[str, ...]) -> Iterator[str]:
    """Looks at hidden rows too: they are on the disk."""
    hidden_too = {"apply_deleted_mask": 0, "optimize_use_projections": 0}
    for table in in_clickhouse.TABLES:
        rows = runtime.clickhouse.rows(
            f"SELECT formatRow('JSONEachRow', * EXCEPT(org_id)) FROM {table}"
            " WHERE org_id = {org_id:String}"
            if table != "agent_sessions"
            else f"SELECT session_id FROM {table} WHERE org_id = {{org_id:String}}",
            {"org_id": org.id},
            settings=hidden_too,
        )
        if _mentioned(_plain(rows), words):
            yield table


def _in_postgres(runtime: Runtime, org: Org, words: tuple[str, ...]) -> Iterator[str]:
    with runtime.postgres.transaction() as session:
        inspector = inspect(session.connection())
        for table in inspector.get_table_names():
            columns = inspector.get_columns(table)
            if not any(column["name"] == "org_id" for column in columns):
                continue
            shown = [
                one["name"] if str(one["type"]) == "BYTEA" else f"CAST({one['name']} AS text)"
                for one in columns
            ]
            rows = session.execute(
                text(f"SELECT {', '.join(shown)} FROM {table} WHERE org_id = :org_id"),
                {"org_id": org.uuid},
            )
            if _mentioned(_plain(rows.all()), words):
                yield table


def _in_redis(runtime: Runtime, org: Org, words: tuple[str, ...]) -> Iterator[str]:
    client = runtime.redis
    for letter in dead_letters.letters(client):
        payloads = [] if letter.batch is None else letter.batch.payloads
        if letter.org_id == org.id and _mentioned(_plain([payloads]), words):
            yield "dead_letters"
    for key in client.scan_iter(match=f"*{org.id}*"):
        if client.type(key) == b"stream":
            entries: Any = client.xrange(key)
            rows = [list(fields.values()) for _, fields in entries]
        else:
            rows = [[client.dump(key)]]
        if _mentioned(_plain(rows), words):
            yield key.decode().rpartition(":")[2]


def _plain(rows: Iterable[Iterable[Any]]) -> str:
    values = [value for row in rows for value in row]
    return "\n".join(
        bytes(one).decode(errors="replace") if isinstance(one, (bytes, memoryview)) else str(one)
        for one in values
    )


def _mentioned(found: str, words: tuple[str, ...]) -> bool:
    spelled = {
        spelling
        for word in words
        for escaped in (json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1])
        for spelling in (word, escaped, escaped.replace("\\", "\\\\"))
    }
    return any(one in found for one in spelled)
