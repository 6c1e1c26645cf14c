"""The syntax of metric filters."""

from decimal import Decimal

import pytest

from shared.foundation.core.errors import Invalid
from shared.reading.sessions.metrics import MetricFilter, metric_sql, parse_metric_filters

MOST = Decimal(10**18)


@pytest.mark.parametrize(
    ("item", "parsed"),
    [
        ("tokens:10..20", MetricFilter("tokens", Decimal(10), Decimal(20))),
        ("error_count:..", MetricFilter("error_count", None, None)),
        ("event_count:1.5..2.5", MetricFilter("event_count", Decimal(2), Decimal(2))),
        ("model_calls:-0.5..", MetricFilter("model_calls", Decimal(0), None)),
        ("duration_ms:1.5..1e3", MetricFilter("duration_ms", Decimal(1500), Decimal(1_000_000))),
        ("duration_ms:0.0001..", MetricFilter("duration_ms", Decimal(1), None)),
        ("cost_usd:0.1..", MetricFilter("cost_usd", Decimal("0.1"), None)),
        (
            "cost_usd:123456.0000000000011..123456.0000000000019",
            MetricFilter(
                "cost_usd", Decimal("123456.000000000002"), Decimal("123456.000000000001")
            ),
        ),
        ("cost_usd:1e-300..1e300", MetricFilter("cost_usd", Decimal("1e-12"), MOST)),
        ("duration_ms:-1e300..1e17", MetricFilter("duration_ms", -MOST, MOST)),
    ],
)
def test_a_bound_is_exact(item: str, parsed: MetricFilter) -> None:
    assert parse_metric_filters([item]) == (parsed,)


@pytest.mark.parametrize(
    "item",
    [
        "tokens",
        "tokens:1",
        "tokens:2..1",
        "tokens:nan..",
        "tokens:..1e400",
        f"tokens:1e-{'9' * 30}..",
        "cost:0..1",
        "agents:0..1",
    ],
)
def test_anything_else_is_refused(item: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_metric_filters(["tokens:0..1", item])
    assert list(refused.value.fields) == ["metric_filters"]


def test_a_bound_in_a_statement_has_no_exponent() -> None:
    [wanted] = parse_metric_filters(["cost_usd:1e-7..1e3"])
    assert metric_sql(wanted) == [
        "cost_usd IS NOT NULL",
        "cost_usd >= 0.000000100000",
        "cost_usd <= 1000.000000000000",
    ]
