"""Histograms of lags, origins and reasons: values in, values out."""

import random
import statistics

import pytest

from shared.intake.receipts.lag import lag_tally, median_ms
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import Receipt, reasons_of, receipt_of_mark


@pytest.mark.parametrize("largest", [1, 30, 1000, 100_000_000])
def test_the_median_is_exact_within_5_percent(largest: int) -> None:
    chance = random.Random(largest)
    lags = [chance.randrange(largest) for _ in range(501)]
    receipt = receipt_of_mark("0\nrow")
    for lag in lags:
        receipt.add(lag_tally(lag))
    median = median_ms(receipt.tallies["row"])
    assert median is not None
    assert abs(median - statistics.median(lags)) <= 0.05 * statistics.median(lags) + 1
    assert receipt.tallies["row"][">lag_ms"] == max(lags)


def test_a_single_lag_is_its_median_and_a_clock_that_went_back_counts_as_none() -> None:
    assert median_ms({}) is None
    assert median_ms(lag_tally(-5)) == 0
    assert median_ms(lag_tally(0)) == 0
    for lag in (1, 7, 1234):
        median = median_ms(lag_tally(lag))
        assert median is not None
        assert 0.95 * lag <= median <= lag


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a b/1.0 (ü)", "a b/1.0 (ü)"), ("a\nb\0c\x7f", "a_b_c_"), ("x" * 200, "x" * 128), ("", "")],
)
def test_an_origin_is_one_line_for_each_of_its_parts(given: str, kept: str) -> None:
    lines = Origin("otlp_http", "key", given, given).of(given).split("\n")
    assert lines == ["otlp_http", "key", kept, kept, kept]


def test_a_mark_leads_back_to_the_row() -> None:
    receipt = Receipt(
        1_763_800_000_000_000, {Origin("events", "k", "s").of("web"): {"accepted": 1}}
    )
    later = receipt_of_mark(receipt.mark)
    assert (later.at_us, later.origin) == (receipt.at_us, receipt.origin)
    assert later.tallies == {receipt.origin: {}}


def test_rare_reasons_are_counted_together() -> None:
    counts = {f"reason {number}": number for number in range(1, 31)}
    tally = reasons_of(counts)
    assert len(tally) == 20
    assert sum(tally.values()) == sum(counts.values())
    assert tally["reason:reason 30"] == 30
    assert tally["reason:other"] == sum(range(1, 12))
