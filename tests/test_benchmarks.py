"""The kept results of benchmarks, and the documents that show them."""

import re
import subprocess
from pathlib import Path

import pytest

from bench.documents import areas_of, documents, with_tables, without_tables
from bench.figures import KINDS, WITHOUT_BAR, figures_of
from bench.record import Record, write
from bench.results import keep, read_results
from bench.suite import BENCHMARKS
from tests.support.markdown import PROJECT

DOCUMENTS = list(documents())
VALUES = {
    "ingest.accepted_to_raw": 0.8,
    "ingest.queryable_to_raw": 0.3,
    "ingest.single_p50": 12.34,
    "ingest.single_p95": 345.6,
    "read.newest_p50": 12345.0,
}


def record(busy: float = 0.0) -> Record:
    return Record(
        commit="1234567",
        measured_by="1234567",
        changed=False,
        date="2026-11-24T10:00:00+00:00",
        length="usual",
        cores=2,
        versions={},
        busy=busy,
        figures=figures_of(VALUES),
    )


def printed(marks: str, busy: float = 0.0) -> list[str]:
    """Returns the lines between the marks."""
    text = with_tables(
        f"<!-- bench: {marks} -->\nold\n<!-- /bench -->", areas_of(iter([record(busy)]))
    )
    return [line for line in text.splitlines()[1:-1] if line]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_tables_are_those_of_the_results(path: Path) -> None:
    text = path.read_text()
    assert with_tables(text, areas_of(read_results())) == text, "run `python -m bench.documents`"


def test_a_table_has_a_row_for_each_figure() -> None:
    assert printed("ingest") == [
        "| figure | measured | bar |",
        "| --- | --- | --- |",
        "| accepted to raw | 0.8 times | ≥ 0.75 |",
        "| queryable to raw | **0.3** times | misses ≥ 0.35 |",
        "| single p50 | 12.3 ms |  |",
        "| single p95 | **346** ms | misses ≤ 300 |",
        "Measured at 1234567 on 2026-11-24; 2 cores.",
    ]


def test_a_table_can_have_columns() -> None:
    assert printed("ingest p50 p95")[:3] == [
        "|  | p50, ms | p95, ms |",
        "| --- | --- | --- |",
        "| single | 12.3 | **346** (misses ≤ 300) |",
    ]


def test_a_busy_machine_is_named() -> None:
    assert printed("read", busy=0.86)[-1].endswith("2 cores, busy: other work took 0.9 of them.")


def test_a_result_that_is_missing_is_named() -> None:
    assert printed("nothing") == ["Not measured yet."]


def test_figures_that_miss_their_bar_are_listed() -> None:
    lines = printed("missed")
    assert lines[2:-1] == [
        "| ingest: queryable to raw | **0.3** times | ≥ 0.35 | 1234567 |",
        "| ingest: single p95 | **346** ms | ≤ 300 | 1234567 |",
    ]
    assert lines[-1].startswith("Not measured yet: `alerts`, ")
    assert "`ingest`" not in lines[-1]


def test_only_the_results_of_a_benchmark_are_replaced(tmp_path: Path) -> None:
    write(record(), tmp_path / "ingest.json")
    keep("read", record(1.0), tmp_path)
    assert [one.busy for one in read_results(tmp_path)] == [0.0, 1.0]


def test_a_benchmark_has_a_bar_or_says_why_not() -> None:
    with_bar = {name.partition(".")[0] for name, kind in KINDS.items() if kind.bar is not None}
    assert BENCHMARKS.keys() - with_bar == WITHOUT_BAR.keys()


def test_what_people_typed_is_told_from_tables() -> None:
    assert without_tables("a <!-- bench: x -->\nAt 1234567.\n<!-- /bench --> b") == "a  b"


@pytest.mark.flow  # it asks git
def test_no_commit_is_typed_by_hand() -> None:
    typed = {
        word: path.name
        for path in DOCUMENTS
        for word in re.findall(r"\b[0-9a-f]{7,40}\b", without_tables(path.read_text()))
    }
    known = subprocess.run(
        ["git", "cat-file", "--batch-check"],
        cwd=PROJECT,
        input="\n".join(f"{word}^{{commit}}" for word in typed),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = [typed[word] for word, line in zip(typed, known, strict=True) if " commit " in line]
    assert found == [], "figures come from `bench/results`; git has the history"
