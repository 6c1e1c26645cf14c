"""Deletions in PostgreSQL: rows of the sessions, and rows that mention them.

- What belongs to a session alone is removed, and so are conversations with the assistant that
  mention it: their answers quote events. So are the levels of budgets of a group that it names.
- Findings, incidents, notifications, mails and reports are about many sessions. They stay, with
  `[deleted]` in place of the words.
- What people wrote as configuration stays unchanged and is counted, so that they can change it. So
  are lines of the audit log, which cannot be changed.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.upkeep.deletions.mentions import Mentions

# Table → its columns with texts.
_Columns = Mapping[str, Sequence[str]]

OF_SESSION = ("evaluation_jobs", "watched_sessions", "evaluator_runs", "session_triggers")
REMOVED: _Columns = {
    "conversations": ("title", "messages"),
    "assistant_turns": ("request",),
    "budget_levels": ("group_value",),
}
CHANGED: _Columns = {
    "findings": (
        "title",
        "description",
        "root_cause_hypothesis",
        "recommendation",
        "expected_impact",
        "evidence",
        "evidence_queries",
        "scope",
    ),
    "finding_actions": ("reason",),
    "finding_suppressions": ("reason",),
    "audit_runs": ("stats", "report", "error"),
    "alert_states": ("groups",),
    "incidents": ("title", "breach_summary", "evidence", "breach_group"),
    "incident_activity": ("detail",),
    "incident_comments": ("body",),
    "notifications": ("content", "error"),
    "mails": ("context",),
}
COUNTED: _Columns = {
    "alerts": ("name", "description", "trigger_spec"),
    "audits": ("name", "description", "scope", "context_text"),
    "saved_queries": ("name", "description", "sql_text", "params"),
    "dashboards": ("name", "description", "definition"),
    "dashboard_tiles": ("title", "param_bindings"),
    "organization_settings": ("value",),
    "prices": ("model", "note"),
    # Its lines cannot be changed.
    "audit_log": ("target", "before", "after"),
}
# Words of one statement.
_WORDS = 200

_TYPES = """
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :table
"""


def remove_of_sessions(
    session: Session, org_id: uuid.UUID, session_ids: Sequence[str]
) -> Counter[str]:
    """Removes what belongs to the sessions alone; counts it by table."""
    removed: Counter[str] = Counter()
    for table in OF_SESSION:
        statement = text(
            f"DELETE FROM {table} WHERE org_id = :org_id AND session_id = ANY(:ids) RETURNING 1"
        )
        found = session.execute(statement, {"org_id": org_id, "ids": list(session_ids)})
        removed[table] = len(found.all())
    return removed


def count_of_sessions(
    session: Session, org_id: uuid.UUID, session_ids: Sequence[str]
) -> dict[str, int]:
    """Counts what belongs to the sessions alone, by table."""
    counts = {}
    for table in OF_SESSION:
        statement = text(
            f"SELECT count(*) FROM {table} WHERE org_id = :org_id AND session_id = ANY(:ids)"
        )
        params = {"org_id": org_id, "ids": list(session_ids)}
        counts[table] = int(session.execute(statement, params).scalar_one())
    return counts


def clean(session: Session, org_id: uuid.UUID, mentions: Mentions) -> Counter[str]:
    """Removes and changes the rows that mention a word; counts them by table."""
    done: Counter[str] = Counter()
    for table, columns in REMOVED.items():
        for place, _ in _mentioning(session, table, columns, org_id, mentions):
            session.execute(text(f"DELETE FROM {table} WHERE ctid = :place"), {"place": place})
            done[table] += 1
    for table, columns in CHANGED.items():
        for place, changes in _mentioning(session, table, columns, org_id, mentions):
            parts = [f"{name} = {_cast(name, kind)}" for name, (kind, _) in changes.items()]
            statement = f"UPDATE {table} SET {', '.join(parts)} WHERE ctid = :place"
            values = {name: value for name, (_, value) in changes.items()}
            session.execute(text(statement), {"place": place, **values})
            done[table] += 1
    return done


def count_mentions(
    session: Session, org_id: uuid.UUID, mentions: Mentions, tables: _Columns
) -> dict[str, int]:
    """Counts the rows of these tables that mention a word; leaves out tables without any."""
    counts = {
        table: sum(1 for _ in _mentioning(session, table, columns, org_id, mentions))
        for table, columns in tables.items()
    }
    return {table: rows for table, rows in counts.items() if rows}


def _mentioning(
    session: Session, table: str, columns: Sequence[str], org_id: uuid.UUID, mentions: Mentions
) -> Iterator[tuple[str, dict[str, tuple[str, Any]]]]:
    """Yields the places of rows that mention a word, with the changed columns of each.

    The rows are locked until the transaction ends.
    """
    columns_of = session.execute(text(_TYPES), {"table": table}).all()
    kinds = {str(name): str(kind) for name, kind in columns_of}
    seen: set[str] = set()
    words = mentions.spellings
    for start in range(0, len(words), _WORDS):
        looks = " OR ".join(_contains(name, kinds[name]) for name in columns)
        statement = text(
            f"SELECT CAST(ctid AS text), {', '.join(_read(name, kinds[name]) for name in columns)}"
            f" FROM {table} WHERE org_id = :org_id AND EXISTS ("
            f"SELECT 1 FROM unnest(CAST(:words AS text[])) AS word WHERE {looks}) FOR UPDATE"
        )
        params = {"org_id": org_id, "words": words[start : start + _WORDS]}
        for place, *values in session.execute(statement, params).all():
            changes = {
                name: (kinds[name], changed)
                for name, value in zip(columns, values, strict=True)
                if value is not None
                and (changed := _changed(value, kinds[name], mentions)) is not None
            }
            if changes and place not in seen:
                seen.add(place)
                yield place, changes


def _changed(value: Any, kind: str, mentions: Mentions) -> str | bytes | None:
    """Returns the value of a column without the words, None if it has none of them."""
    if kind in ("json", "jsonb"):
        parsed = json.loads(value)
        changed = mentions.replaced_in(parsed)
        return json.dumps(changed) if changed != parsed else None
    if kind == "bytea":
        return _changed_bytes(bytes(value), mentions)
    plain = str(value)
    new = mentions.replaced(plain)
    return new if new != plain else None


def _changed_bytes(value: bytes, mentions: Mentions) -> bytes | None:
    """Does the same with bytes. Where they are JSON, a short word may be a value."""
    plain = value.decode(errors="replace")
    try:
        parsed = json.loads(plain)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, (dict, list)):
        changed = mentions.replaced_in(parsed)
        return json.dumps(changed).encode() if changed != parsed else None
    new = mentions.replaced(plain)
    return new.encode() if new != plain else None


def _read(name: str, kind: str) -> str:
    return name if kind == "bytea" else f"CAST({name} AS text)"


def _contains(name: str, kind: str) -> str:
    if kind == "bytea":
        return f"position(convert_to(word, 'UTF8') IN {name}) > 0"
    return f"position(word IN CAST({name} AS text)) > 0"


def _cast(name: str, kind: str) -> str:
    return f"CAST(:{name} AS {kind})" if kind in ("json", "jsonb") else f":{name}"
