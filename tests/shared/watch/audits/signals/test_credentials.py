"""Patterns of credentials: the cheap filter, and the description of a match."""

import random
import re

import pytest

from shared.foundation.clickhouse import ClickHouse, literals
from shared.watch.audits.signals import credentials
from shared.watch.audits.signals.credentials import PATTERNS, Pattern
from tests.shared.watch.audits.signals.matching import matching

_TEXTS = 400
# A word may follow anything but letters, digits and `_`, and may begin the text.
_BEFORE = ["", *" \t\n\r\f!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~", "é", "“", "\N{IDEOGRAPHIC COMMA}"]


def texts(pattern: Pattern) -> list[str]:
    """Returns texts with a match, the same in every run."""
    rng = random.Random(pattern.kind)
    return [
        f"{rng.choice(_BEFORE)}{matching(rng, pattern.regex)}{rng.choice(_BEFORE)}"
        for _ in range(_TEXTS)
    ]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: str(pattern.kind))
def test_whatever_a_pattern_matches_has_a_needle(clickhouse: ClickHouse, pattern: Pattern) -> None:
    statement = f"""
    SELECT payload, {credentials.may_have()}
    FROM (SELECT arrayJoin({{texts:Array(String)}}) AS payload)
    WHERE notEmpty(extractAll(payload, {literals.text(pattern.regex)}))
    """
    rows = clickhouse.rows(statement, {"texts": texts(pattern)})
    assert len(rows) > _TEXTS * 0.9
    assert [text for text, has_needle in rows if not has_needle] == []


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: str(pattern.kind))
def test_every_match_has_the_reported_prefix(pattern: Pattern) -> None:
    rng = random.Random(pattern.kind)
    for _ in range(_TEXTS):
        # A JSON escape with a backslash may precede the word.
        match = re.sub(r"^\\(?:[nrt]|u\w{4})", "", matching(rng, pattern.regex))
        assert match.startswith(pattern.shown)
