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


def test_the_documents_name_the_types_and_the_key_of_every_family() -> None:
    texts = [" ".join(path.read_text().split()) for path in markdown.documents()]
    pairs = [f"`{one.start}` and `{one.end}` with one `{one.key}`" for one in FAMILIES]
    assert any(all(pair in text for pair in pairs) for text in texts)
