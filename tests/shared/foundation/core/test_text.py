"""Numbers and text as people read them and PostgreSQL keeps them."""

import pytest

from shared.foundation.core.text import figure, number, storable


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (3.0, "3"),
        (1234567.0, "1234567"),
        (5 / 12, "0.416667"),
        (1e15, "1e+15"),
        (-0.5, "-0.5"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_are_whole_or_have_six_digits(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0 %"), (2 / 3, "66.7 %"), (1.0, "100 %"), (0.999, "99.9 %"), (0.0004, "0.04 %")],
)
def test_the_error_rate_is_a_percentage(value: float, shown: str) -> None:
    assert figure("error_rate", value) == shown
    assert figure("p95_latency_ms", value) == number(value)


@pytest.mark.parametrize(
    ("text", "kept"), [("plain", "plain"), ("a\0b", "a\ufffdb"), ("a\ud800b", "a?b")]
)
def test_characters_that_postgresql_refuses_are_replaced(text: str, kept: str) -> None:
    assert storable(text) == kept


def test_text_is_cut_to_what_its_column_takes() -> None:
    assert storable("abc", 2) == "ab"
