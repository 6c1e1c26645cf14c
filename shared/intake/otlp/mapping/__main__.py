"""`python -m shared.intake.otlp.mapping` prints the tables of `docs/send/otlp-mapping.md`."""

import sys
from collections.abc import Iterable

from shared.intake.otlp.mapping.dimension_tables import DIMENSIONS, OF_RESOURCES
from shared.intake.otlp.mapping.event_types import (
    ERROR,
    EVALUATION_RESULT,
    EVENTS,
    LOG,
    MODEL_CONTENT,
    MODEL_MESSAGE,
    EventRow,
)
from shared.intake.otlp.mapping.tables import (
    AGENT,
    CALLER,
    ENVIRONMENT,
    EVALUATION_FIELDS,
    EXCEPTION_FIELDS,
    FIELDS,
    KIND_COLUMNS,
    KIND_SIGNS,
    ROLE_FIELDS,
    SESSION,
    Kind,
)
from shared.intake.otlp.mapping.vendors import REPORTS, VENDORS

_Row = list[str]


def kinds_table() -> str:
    """Returns the kinds of spans, with the values that mean them in each attribute."""
    kinds: list[Kind] = ["agent", "model", "tool", "retrieval", "guardrail"]
    rows = [
        [kind, *(_codes(words.get(kind, ())) for words in KIND_COLUMNS.values()), _signs(kind)]
        for kind in kinds
    ]
    return _table(["kind", *(f"`{column}`" for column in KIND_COLUMNS), "else"], rows)


def names_table() -> str:
    """Returns the sources of the session, the agent and the environment."""
    rows = [
        ["session", _codes(SESSION)],
        ["agent of an agent span", _codes(AGENT)],
        ["agent of other records", _codes(CALLER)],
        ["environment", _codes(ENVIRONMENT)],
    ]
    return _table(["of a record", "first of"], rows)


def dimensions_table() -> str:
    """Returns the sources of the fields that all events of a record have."""
    rows = [[f"`{field}`", _codes(names)] for field, names in DIMENSIONS.items()]
    rows += [
        [f"`{field}` of {vendor.agent}", _codes(names)]
        for vendor in VENDORS
        for field, names in vendor.dimensions.items()
    ]
    rows += [
        [f"attribute `{key}`", f"`{name}` of the resource"] for name, key in OF_RESOURCES.items()
    ]
    return _table(["field", "first of"], rows)


def events_table() -> str:
    """Returns the events at the start and the end of a span, by the role of the span."""
    rows = [
        [role, "" if start is None else _event(start), _event(end)]
        for role, (start, end) in EVENTS.items()
    ]
    return _table(["role", "at the start", "at the end"], rows)


def fields_table() -> str:
    """Returns the sources of every field, with the roles that have it."""
    rows = [
        [f"`{field}`", ", ".join(r for r, of in ROLE_FIELDS.items() if field in of), _codes(names)]
        for field, names in FIELDS.items()
    ]
    return _table(["value", "roles", "first of"], rows)


def other_events_table() -> str:
    """Returns the events that do not come from the start or the end of a span."""
    sources = {
        ERROR[0]: _codes(EXCEPTION_FIELDS.values()),
        EVALUATION_RESULT[0]: _codes(EVALUATION_FIELDS.values()),
    }
    rows = [
        [_event(row), sources.get(row[0], "")]
        for row in (ERROR, EVALUATION_RESULT, MODEL_MESSAGE, MODEL_CONTENT, LOG)
    ]
    return _table(["event", "from"], rows)


def coding_agents_table() -> str:
    """Returns the reports of coding agents, and the events that they become."""
    rows = [
        [
            f"`{vendor.agent}`",
            f"`{vendor.prefix}{name}`",
            " and ".join(_event(row) for row in REPORTS[report]),
        ]
        for vendor in VENDORS
        for name, report in vendor.reports.items()
    ]
    return _table(["agent", "record", "events"], rows)


def _event(row: EventRow) -> str:
    return f"`{row[0]}` {{{', '.join(field.partition('=')[0] for field in row[1])}}}"


def _signs(kind: Kind) -> str:
    return _codes(
        key if wanted is None else f"{key} = {wanted}"
        for key, wanted, meant in KIND_SIGNS
        if meant == kind
    )


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name.replace('|', chr(92) + '|')}`" for name in names)


def _table(head: _Row, rows: list[_Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


TABLES = (
    kinds_table,
    names_table,
    dimensions_table,
    events_table,
    fields_table,
    other_events_table,
    coding_agents_table,
)

if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for table in TABLES) + "\n")
