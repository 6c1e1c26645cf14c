"""The document and the tables of the mapping agree."""

from collections.abc import Callable

import pytest

from shared.intake.otlp.mapping.__main__ import TABLES
from shared.intake.otlp.mapping.tables import FIELDS, ROLE_FIELDS
from tests.support.markdown import PROJECT


@pytest.mark.parametrize("table", TABLES)
def test_a_table_stands_in_the_document(table: Callable[[], str]) -> None:
    documented = (PROJECT / "docs/send/otlp-mapping.md").read_text()
    assert table() in documented, "paste the output of `python -m shared.intake.otlp.mapping`"


def test_every_value_belongs_to_a_role() -> None:
    assert FIELDS.keys() == {field for fields in ROLE_FIELDS.values() for field in fields}
