"""The table of the families of events, whose rows everything else reads."""

from collections import Counter

import pytest

from shared.foundation.clickhouse.event_columns import EVENT_COLUMNS
from shared.reading.events.families import FAMILIES, Family
from tests.support import markdown

_COLUMNS = {column.name for column in EVENT_COLUMNS}


def test_a_type_belongs_to_one_family() -> None:
    types = Counter(event_type for family in FAMILIES for event_type in family.types)
    assert set(types.values()) == {1}
    assert len({family.noun for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.noun)
def test_the_key_and_the_name_are_columns_of_events(family: Family) -> None:
    assert {family.key, family.group} <= _COLUMNS


def test_the_documents_have_the_same_table() -> None:
    expected = [[one.noun, f"`{one.start}`, `{one.end}`", f"`{one.key}`"] for one in FAMILIES]
    rows = [row for path in markdown.documents() for row in markdown.rows(path.read_text())]
    start = rows.index(["family", "start and close", "key"]) + 2
    assert rows[start : start + len(expected)] == expected
