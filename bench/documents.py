"""Prints the kept figures of benchmarks into the documents: `python -m bench.documents`.

A document has a table between two marks:

    <!-- bench: ingest -->
    <!-- /bench -->

It has a row for each figure `ingest.…`. With columns, as in `<!-- bench: read p50 p95 -->`, it has
a row for each beginning of a name and a column for each of these endings. A line below tells where
the figures come from. `<!-- bench: missed -->` has the figures of all benchmarks that miss their
bar. `python -m bench --json` does the same after it has measured.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.figures import KINDS, Figure, bar_of, shown
from bench.record import PROJECT, Record
from bench.results import read_results

# Other work that took less than this part of a processor does not count.
_QUIET = 0.15
_MARKED = re.compile(r"(<!-- bench: (\w+)((?: \w+)*) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def documents() -> Iterator[Path]:
    """Yields the documents of the project."""
    for pattern in ("*.md", "docs/**/*.md", "collector/*.md"):
        yield from sorted(PROJECT.glob(pattern))


def write_all() -> None:
    """Prints the kept figures into all documents."""
    areas = areas_of(read_results())
    for path in documents():
        text = path.read_text()
        if (printed := with_tables(text, areas)) != text:
            path.write_text(printed)


def areas_of(records: Iterator[Record]) -> dict[str, Record]:
    """Returns the figures by the first part of their names; some benchmarks have several."""
    areas: dict[str, Record] = {}
    for record in records:
        for name in dict.fromkeys(area_of(figure) for figure in record.figures):
            own = [figure for figure in record.figures if area_of(figure) == name]
            areas[name] = msgspec.structs.replace(record, figures=own)
    return areas


def area_of(figure: Figure) -> str:
    """Returns the first part of a figure's name."""
    return figure.name.partition(".")[0]


def with_tables(text: str, areas: Mapping[str, Record]) -> str:
    """Returns a document with the tables of these figures between its marks."""

    def printed(marked: re.Match[str]) -> str:
        begin, name, columns, end = marked.groups()
        table = missed(areas) if name == "missed" else _table(areas.get(name), columns.split())
        return f"{begin}\n{table}\n\n{end}"

    return _MARKED.sub(printed, text)


def without_tables(text: str) -> str:
    """Returns what people typed of a document."""
    return _MARKED.sub("", text)


def missed(areas: Mapping[str, Record]) -> str:
    """Returns a table of the figures that miss their bar, and the names of what has no result."""
    lines = [["figure", "measured", "bar", "measured at"], ["---"] * 4]
    for area, record in areas.items():
        lines += (
            [f"{area}: {_name(figure)}", _measured(figure), bar_of(figure), _commit(record)]
            for figure in record.figures
            if figure.is_reached is False
        )
    with_bar = (name for name, kind in KINDS.items() if kind.bar is not None)
    absent = {name.partition(".")[0] for name in with_bar} - areas.keys()
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if not absent:
        return table
    return f"{table}\n\nNot measured yet: {', '.join(f'`{name}`' for name in sorted(absent))}."


def _table(record: Record | None, columns: Sequence[str]) -> str:
    if record is None:
        return "Not measured yet."
    head, *rows = _by_column(record.figures, columns) if columns else _one_a_row(record.figures)
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\nMeasured at {_source(record)}."


def _one_a_row(figures: Sequence[Figure]) -> Iterator[list[str]]:
    if all(figure.bar is None for figure in figures):
        yield ["figure", "measured"]
        yield from ([_name(figure), _measured(figure)] for figure in figures)
        return
    yield ["figure", "measured", "bar"]
    yield from ([_name(figure), _measured(figure), _bar(figure)] for figure in figures)


def _name(figure: Figure) -> str:
    return _words(figure.name.partition(".")[2])


def _measured(figure: Figure) -> str:
    return f"{_value(figure)} {figure.unit}".rstrip()


def _by_column(figures: Sequence[Figure], columns: Sequence[str]) -> Iterator[list[str]]:
    cells: dict[str, dict[str, Figure]] = {}
    for figure in figures:
        name = figure.name.partition(".")[2]
        if column := next(
            (one for one in columns if name == one or name.endswith(f"_{one}")), None
        ):
            row = name.removesuffix(column).rstrip("_") or "together"
            cells.setdefault(row, {})[column] = figure
    yield ["", *(_headed(column, cells.values()) for column in columns)]
    for row, found in cells.items():
        yield [_words(row), *(_cell(found.get(column)) for column in columns)]


def _headed(column: str, rows: Iterable[Mapping[str, Figure]]) -> str:
    units = {row[column].unit for row in rows if column in row} - {""}
    return ", ".join([_words(column), *units]) if len(units) == 1 else _words(column)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    bar = _bar(figure)
    return f"{_value(figure)} ({bar})" if bar else _value(figure)


def _value(figure: Figure) -> str:
    return f"**{shown(figure.value)}**" if figure.is_reached is False else shown(figure.value)


def _bar(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    return bar_of(figure) if figure.is_reached else f"misses {bar_of(figure)}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _source(record: Record) -> str:
    machine = f"{record.cores} cores"
    if record.busy >= _QUIET:
        machine += f", busy: other work took {record.busy:.1f} of them"
    return f"{_commit(record)} on {record.date[:10]}; {machine}"


def _commit(record: Record) -> str:
    return record.commit if record.length == "usual" else f"{record.commit}, `--{record.length}`"


if __name__ == "__main__":
    write_all()
