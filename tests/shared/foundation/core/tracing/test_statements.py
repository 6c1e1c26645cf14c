"""The part of a statement that a span may show."""

import pytest

from shared.foundation.core.tracing import spans
from shared.foundation.core.tracing.exporter import Tracing
from shared.foundation.core.tracing.statements import Statements, operation_of
from tests.support.backend import Backend

TABLES = {"events", "events_local", "evaluation_jobs", "organizations"}


@pytest.mark.parametrize(
    ("sql", "operation"),
    [
        ("SELECT 1", "SELECT"),
        ("\n  select 1", "SELECT"),
        ("(SELECT 1) UNION (SELECT 2)", "SELECT"),
        ("INSERT INTO events SELECT 1 FROM input('a')", "INSERT"),
        ("UPDATE organizations SET x = 1", "UPDATE"),
        ("WITH a AS (SELECT 1 FOR UPDATE SKIP LOCKED) SELECT * FROM a", "SELECT"),
        ("WITH a AS (SELECT 1 FOR NO KEY UPDATE OF b) SELECT * FROM a", "SELECT"),
        ("WITH a AS (SELECT 1 FOR UPDATE) UPDATE organizations SET x = 1", "UPDATE"),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE SET y = 2", "INSERT"),
        ("WITH a AS (SELECT 1) DELETE FROM organizations", "DELETE"),
        ("VACUUM full", "OTHER"),
        ("password", "OTHER"),
        ("", "OTHER"),
    ],
)
def test_the_operation_is_one_of_a_closed_list(sql: str, operation: str) -> None:
    assert operation_of(sql) == operation


@pytest.mark.flow
@pytest.mark.parametrize(
    ("sql", "name"),
    [
        (
            "SELECT a FROM events FINAL WHERE b = 'FROM organizations'",
            "SELECT events organizations",
        ),
        ("INSERT INTO watchpost.events_local (a) VALUES", "INSERT events_local"),
        (
            "SELECT 1 FROM events AS e JOIN evaluation_jobs USING (x)",
            "SELECT events evaluation_jobs",
        ),
        ("SELECT geheim FROM secrets_of_people WHERE x = 'from geheim'", "SELECT"),
    ],
)
def test_a_span_names_known_tables_and_no_other_word(
    tracing: Tracing, backend: Backend, sql: str, name: str
) -> None:
    with spans.work("outer"), Statements("postgresql", TABLES).span(sql):
        pass
    tracing.stop()
    inner, outer = backend.spans
    assert inner.is_below(outer)
    assert inner.name == inner.attributes["db.query.summary"] == name
    tables = name.split()[1:]
    assert inner.attributes.get("db.collection.name") == (tables[0] if len(tables) == 1 else None)
    assert inner.attributes["db.system.name"] == "postgresql"


@pytest.mark.flow
def test_a_statement_outside_of_a_span_makes_none(tracing: Tracing, backend: Backend) -> None:
    with Statements("postgresql", TABLES).span("SELECT 1"):
        pass
    with spans.work("outer"):
        pass
    tracing.stop()
    assert [one.name for one in backend.spans] == ["outer"]
