"""The closed list of metrics, compared with the documents, the dashboard and the alerts."""

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser
import pytest
import yaml

from shared.foundation.core.metrics.catalogue import ALL, table
from shared.foundation.core.metrics.exporter import PROCESS_TYPES
from shared.foundation.core.metrics.kinds import OTHER, Counter, Histogram
from tests.support import markdown
from tests.support.markdown import PROJECT
from workers.groups import GROUPS

DASHBOARD = json.loads((PROJECT / "deploy/grafana.json").read_text())
RULES = yaml.safe_load((PROJECT / "deploy/alerts.yml").read_text())["groups"][0]["rules"]
EXPRESSIONS = [
    *(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]),
    *(rule["expr"] for rule in RULES),
]


def series() -> dict[str, dict[str, tuple[str, ...] | None]]:
    """Returns the labels of each series that a scrape can contain, with their closed sets."""
    found: dict[str, dict[str, tuple[str, ...] | None]] = {}
    for metric in ALL:
        labels = dict(metric.labels)
        if isinstance(metric, Histogram):
            found[f"{metric.name}_bucket"] = {**labels, "le": None}
            found[f"{metric.name}_sum"] = found[f"{metric.name}_count"] = labels
        else:
            found[metric.name] = labels
    return found


def parts(expression: Any) -> Iterator[Any]:
    """Yields an expression and all that it is made of."""
    yield expression
    for name in ("lhs", "rhs", "expr", "vector_selector", "args"):
        inner = getattr(expression, name, None)
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, promql_parser.Expr):
                yield from parts(one)


def selectors(text: str) -> list[Any]:
    return [
        part
        for part in parts(promql_parser.parse(text))
        if isinstance(part, promql_parser.VectorSelector)
    ]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_expression_names_series_that_exist(text: str) -> None:
    known, found = series(), selectors(text)
    assert len(found) == len(re.findall(r"watchpost_\w+", text)) > 0
    for selector in found:
        assert selector.name in known
        for matcher in selector.matchers.matchers:
            values = known[selector.name][matcher.name]
            if values is not None:
                assert set(re.split(r"\|", matcher.value)) <= set(values)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_expression_groups_by_labels_that_exist(text: str) -> None:
    for part in parts(promql_parser.parse(text)):
        if isinstance(part, promql_parser.AggregateExpr) and part.modifier is not None:
            made = set(re.findall(r'label_replace\(.*?, "(\w+)"', text))
            known = {label for one in selectors(str(part)) for label in series()[one.name]}
            assert set(part.modifier.labels) <= known | made


def test_every_metric_is_documented() -> None:
    documented = (PROJECT / "docs/run/operate.md").read_text()
    assert table() in documented, (
        "paste the output of `python -m shared.foundation.core.metrics.catalogue`"
    )


def test_every_port_is_documented() -> None:
    section = markdown.section((PROJECT / "docs/run/operate.md").read_text(), "Ports")
    rows = markdown.rows(section)[2:]
    cells = [cell.strip("`") for row in rows for cell in row]
    documented = dict(zip(cells[::2], map(int, cells[1::2]), strict=True))
    assert documented == {name: place for place, name in enumerate(PROCESS_TYPES)}
    assert {"web", "otlp-grpc", "worker", "clock", *GROUPS} == set(PROCESS_TYPES)


def test_the_graphs_and_alerts_are_those_of_the_document() -> None:
    section = markdown.section((PROJECT / "docs/run/operate.md").read_text(), "Graphs and alerts")
    graphs = [row[0] for row in markdown.rows(section.partition("\n| alert |")[0])[2:]]
    alerts = list(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
    assert graphs == [panel["title"] for panel in DASHBOARD["panels"]]
    assert len(graphs) == 10
    assert alerts == [rule["alert"] for rule in RULES]


def test_names_say_what_they_are() -> None:
    names = [metric.name for metric in ALL]
    assert len(names) == len(set(names))
    for metric in ALL:
        assert metric.name.startswith("watchpost_")
        assert metric.name.endswith("_total") is isinstance(metric, Counter)
        for label, values in metric.labels.items():
            assert "org" not in label
            assert values is None or len(values) == len(set(values))


def test_a_value_outside_of_a_closed_set_counts_as_other() -> None:
    [requests] = [metric for metric in ALL if metric.name == "watchpost_http_requests_total"]
    assert requests.bounded(("BREW", "/v1/<id>", "418")) == [OTHER, "/v1/<id>", "418"]
    assert requests.bounded(("GET", "none", "404")) == ["GET", "none", "404"]
