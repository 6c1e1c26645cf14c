"""What a rule about costs, with groups or with a budget may contain."""

from typing import Any

import pytest

from shared.foundation.core.errors import Invalid
from shared.watch.alerts.rules import checked_spec

METRIC = {"metric": "cost_sum", "op": ">", "value": 1, "window_secs": 3600}
BUDGET = {"amount_usd": 50, "period": "month"}


@pytest.mark.parametrize("by", ["user_id", "agent_id", "agent_version", "model", "attr.plan"])
def test_a_rule_has_groups_by_a_field(by: str) -> None:
    assert checked_spec("budget", {**BUDGET, "group_by": by}, schema="")["group_by"] == by
    assert checked_spec("metric_threshold", {**METRIC, "group_by": by}, schema="")


def test_a_filter_keeps_what_is_known() -> None:
    wanted = {"user_id": "zoe", "tag": None, "colour": "red", "attributes": {"plan": "gold"}}
    kept = checked_spec("budget", {**BUDGET, "filter": wanted}, schema="")
    assert kept["filter"] == {"user_id": "zoe", "attributes": {"plan": "gold"}}


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("metric_threshold", {"group_by": "colour"}, "group_by"),
        ("metric_threshold", {"group_by": "attr.a b"}, "group_by"),
        ("metric_threshold", {"filter": {"attributes": {"a b": "x"}}}, "filter.attributes.a b"),
        ("metric_threshold", {"filter": {"attributes": {"a": 1}}}, "filter.attributes.*"),
        (
            "metric_threshold",
            {"filter": {"attributes": {f"k{number}": "x" for number in range(9)}}},
            "filter.attributes",
        ),
        ("budget", {"amount_usd": 0}, "amount_usd"),
        ("budget", {"amount_usd": -1}, "amount_usd"),
        ("budget", {"amount_usd": None}, "amount_usd"),
        ("budget", {"amount_usd": float("nan")}, "amount_usd"),
        ("budget", {"period": "year"}, "period"),
        ("budget", {"tz": "Europe/Nowhere"}, "tz"),
        ("budget", {"tz": "../etc/passwd"}, "tz"),
        ("budget", {"levels": []}, "levels"),
        ("budget", {"levels": [80, 50]}, "levels"),
        ("budget", {"levels": [50, 50]}, "levels"),
        ("budget", {"levels": [0]}, "levels.0"),
        ("budget", {"levels": [1001]}, "levels.0"),
        ("budget", {"levels": [1, 2, 3, 4, 5, 6, 7]}, "levels"),
        ("budget", {"forecast": "yes"}, "forecast"),
        ("budget", {"group_by": "colour"}, "group_by"),
    ],
)
def test_a_bad_spec_names_its_field(kind: str, change: dict[str, Any], field: str) -> None:
    base = BUDGET if kind == "budget" else METRIC
    with pytest.raises(Invalid) as refused:
        checked_spec(kind, {**base, **change}, schema="")
    assert list(refused.value.fields) == [f"trigger_spec.{field}"]
