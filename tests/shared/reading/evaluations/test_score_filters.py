"""The syntax of score filters."""

import pytest

from shared.foundation.core.errors import Invalid
from shared.reading.evaluations.score_filters import ScoreFilter, conditions, parse_score_filters


@pytest.mark.parametrize(
    ("item", "parsed"),
    [
        ("success:0..1", ScoreFilter("success", 0, 1)),
        ("success:0.5..", ScoreFilter("success", 0.5, None)),
        ("success:..0.5", ScoreFilter("success", None, 0.5)),
        ("success:..", ScoreFilter("success", None, None)),
        ("delta:-2.5..-1e-3", ScoreFilter("delta", -2.5, -0.001)),
        ("delta:+.5..1E+2", ScoreFilter("delta", 0.5, 100)),
        ("equal:1..1", ScoreFilter("equal", 1, 1)),
        ("a:b..c:1..2", ScoreFilter("a:b..c", 1, 2)),
        ("cost, total:0..", ScoreFilter("cost, total", 0, None)),
        ("größe:0..", ScoreFilter("größe", 0, None)),
    ],
)
def test_bounds_are_optional_numbers(item: str, parsed: ScoreFilter) -> None:
    assert parse_score_filters([item]) == (parsed,)


@pytest.mark.parametrize(
    "item",
    [
        "",
        "success",
        "success:",
        "success:1",
        "success:1.2",
        "success:a..b",
        ":0..1",
        "success:nan..1",
        "success:0..inf",
        "success:-Infinity..",
        "success:0..1e400",
        "success:0x1..2",
        "success:1_0..20",
        "success:\u0661..\u0662",
        "success: 0..1",
        "success:0..1..2..",
        "success:2..1",
    ],
)
def test_anything_else_is_refused(item: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_score_filters(["speed:0..1", item])
    assert list(refused.value.fields) == ["score_filters"]


def test_twenty_filters_are_the_most() -> None:
    assert len(parse_score_filters(["k:0..1"] * 20)) == 20
    with pytest.raises(Invalid):
        parse_score_filters(["k:0..1"] * 21)


def test_conditions_hold_no_value_of_the_caller() -> None:
    texts, params = conditions([ScoreFilter("a'b", 0.5, None), ScoreFilter("c", None, -1)], "m")
    low = "mapContains(m, {score_0:String}) AND m[{score_0:String}] >= {score_0_low:Float64}"
    high = "mapContains(m, {score_1:String}) AND m[{score_1:String}] <= {score_1_high:Float64}"
    assert texts == [low, high]
    assert params == {"score_0": "a'b", "score_0_low": 0.5, "score_1": "c", "score_1_high": -1}
