"""The shapes of an incident's history."""

from typing import get_type_hints

from shared.watch.incidents.activity import KINDS
from shared.watch.incidents.details import DETAILS
from shared.watch.incidents.evidence import ComparedFields, Comparison


def test_every_kind_of_entry_has_its_details() -> None:
    assert tuple(DETAILS) == KINDS


def test_the_history_repeats_the_whole_comparison() -> None:
    assert get_type_hints(ComparedFields) == get_type_hints(Comparison)
