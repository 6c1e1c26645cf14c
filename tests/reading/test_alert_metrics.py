"""Triggers over events of the airline recording, compared with counting one event at a time."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args
from uuid import UUID, uuid4

import msgspec
import pytest

from shared.foundation.core.clock import format_ts, from_us, to_us
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from shared.watch.alerts.evaluation.triggers.batch import evaluate
from shared.watch.alerts.evaluation.triggers.interface import (
    Outcome,
    Rule,
    RuleContext,
    RuleReading,
)
from shared.watch.alerts.evaluation.triggers.plan import MAX_SAMPLES
from shared.watch.alerts.specs import EventFilter, Metric, MetricThreshold, PerEvent, Spec
from tests.reading.conftest import NEWEST, AirlineOrg
from tests.reading.latencies import Event, quantile
from tests.support.runtime import make_org

# The recording has no calls without a price, and no tokens of these classes.
ABSENT = (
    *("unpriced_calls", "cache_read_token_sum", "cache_write_token_sum"),
    "reasoning_token_sum",
)
METRICS: tuple[Metric, ...] = tuple(one for one in get_args(Metric) if one not in ABSENT)
# Dollars of a token of gpt-4o, read and written.
READ, WRITTEN = 2.5e-6, 10e-6
TIMED = ("tool_result", "model_response", "hook_completed")
NAMES = ("environment", "event_type", "agent_id", "model", "tool_name")
FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"environment": "staging"},
    {"event_type": "tool_result"},
    {"event_type": "human_input", "environment": "production"},
    {"event_type": "tool_use"},
    {"agent_id": "airline-support"},
    {"model": "gpt-4o"},
    {"tool_name": "book_reservation"},
    {"tool_name": "book_reservation", "environment": "canary", "event_type": "tool_result"},
    {"model": "gpt-4o", "tool_name": "book_reservation"},
    {"environment": 'it\'s \\ "nowhere" {x:String}'},
)
# Moments, and windows in seconds that end there. Events count before the moment.
WINDOWS: tuple[tuple[datetime, int], ...] = (
    (NEWEST + timedelta(microseconds=1), 60),
    (NEWEST - timedelta(hours=9), 300),
    (NEWEST - timedelta(hours=9), 1801),
    (NEWEST - timedelta(hours=9), 7200),
    (NEWEST + timedelta(seconds=1), 86_400),
    (NEWEST + timedelta(days=6), 7 * 86_400),
    (NEWEST + timedelta(days=29), 30 * 86_400),
)


@pytest.fixture(scope="module")
def context(runtime: Runtime, airline_org: AirlineOrg) -> Iterator[RuleContext]:
    """The organization of the recording."""
    runner = QueryRunner(runtime, pool_size=1)
    yield RuleContext(runtime, runner, airline_org.org.id)
    runner.close()


@pytest.fixture(scope="module")
def events(airline_org: AirlineOrg) -> Sequence[Event]:
    return [Event.of_line(line) for line in airline_org.recording.lines]


def rule(spec: Spec, until: datetime, since: datetime | None = None) -> Rule:
    return Rule(uuid4(), spec, since, until)


def threshold(metric: Metric, window_secs: int, named: Mapping[str, str]) -> MetricThreshold:
    admitted = msgspec.convert(named, EventFilter)
    return MetricThreshold(metric=metric, op=">", value=0, window_secs=window_secs, filter=admitted)


@pytest.fixture(scope="module")
def rules() -> Sequence[Rule]:
    """Returns rules for every metric of every filter over every window."""
    return [
        rule(threshold(metric, secs, named), until)
        for metric in METRICS
        for named in FILTERS
        for until, secs in WINDOWS
    ]


@pytest.fixture(scope="module")
def outcomes(context: RuleContext, rules: Sequence[Rule]) -> Mapping[UUID, Outcome]:
    """Returns the results of all rules in one evaluation."""
    return evaluate(context, rules)


def matching(events: Sequence[Event], rule: Rule) -> list[Event]:
    assert isinstance(rule.spec, MetricThreshold)
    since = rule.until - timedelta(seconds=rule.spec.window_secs)
    values = {name: getattr(rule.spec.filter, name) for name in NAMES}
    named = {name: value for name, value in values.items() if value is not None}
    return [
        event
        for event in events
        if since <= event.at < rule.until
        and all(event.text(name) == value for name, value in named.items())
    ]


def computed(events: Sequence[Event], rule: Rule) -> float | None:
    """Returns the metric, computed in the slow and obvious way."""
    assert isinstance(rule.spec, MetricThreshold)
    found = matching(events, rule)
    errors = sum(event.is_error for event in found)
    ends = [event for event in found if rule.spec.filter.event_type or event.type in TIMED]
    told = [event.number("duration_ms") for event in ends]
    latencies = sorted(latency for latency in told if latency is not None)
    tokens = [
        event.number(name) or 0 for event in found for name in ("input_tokens", "output_tokens")
    ]
    calls = [event for event in found if event.type == "model_response"]
    read, written = (
        sum(event.number(name) or 0 for event in found)
        for name in ("input_tokens", "output_tokens")
    )
    cost = read * READ + written * WRITTEN
    paying = len({event.session for event in calls})
    values: dict[Metric, float | None] = {
        "cost_sum": cost,
        "cost_per_session": cost / paying if paying else None,
        "model_call_count": len(calls),
        "input_token_sum": read,
        "output_token_sum": written,
        "event_count": len(found),
        "error_count": errors,
        "error_rate": errors / len(found) if found else None,
        "session_count": len({event.session for event in found}),
        "token_sum": sum(tokens),
        "p95_latency_ms": quantile(latencies, 0.95),
        "p99_latency_ms": quantile(latencies, 0.99),
    }
    return values[rule.spec.metric]


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_what_counting_finds(
    events: Sequence[Event],
    rules: Sequence[Rule],
    outcomes: Mapping[UUID, Outcome],
    metric: Metric,
) -> None:
    expected, found = [], []
    for one in rules:
        assert isinstance(one.spec, MetricThreshold)
        if one.spec.metric == metric:
            reading = outcomes[one.alert_id]
            assert isinstance(reading, RuleReading)
            value = computed(events, one)
            assert reading.breached is (value is not None and value > 0)
            assert (reading.value is None) is (value is None)
            expected.append(value or 0)
            found.append(reading.value or 0)
    assert len(set(expected)) > 5
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_rule_by_itself_says_what_it_says_among_others(
    context: RuleContext, rules: Sequence[Rule], outcomes: Mapping[UUID, Outcome]
) -> None:
    for one in rules[::11]:
        assert evaluate(context, [one])[one.alert_id] == outcomes[one.alert_id]


def test_a_breach_shows_events_that_match(
    events: Sequence[Event], rules: Sequence[Rule], outcomes: Mapping[UUID, Outcome]
) -> None:
    shown = 0
    for one in rules[::3]:
        reading = outcomes[one.alert_id]
        assert isinstance(reading, RuleReading)
        if reading.breached:
            sessions = {event.session for event in matching(events, one)}
            assert sessions.issuperset(reading.evidence["session_ids"])
            assert 1 <= len(reading.evidence["session_ids"]) <= MAX_SAMPLES
            assert 1 <= len(set(reading.evidence["event_ids"])) <= MAX_SAMPLES
            shown += 1
        else:
            assert "event_ids" not in reading.evidence
    assert shown > 50


def test_another_organization_sees_none_of_it(
    context: RuleContext, runtime: Runtime, rules: Sequence[Rule]
) -> None:
    other = RuleContext(runtime, context.runner, make_org(runtime).id)
    readings = evaluate(other, rules).values()
    assert {reading.value for reading in readings if isinstance(reading, RuleReading)} == {
        None,
        0.0,
    }
    assert not any(reading.breached for reading in readings if isinstance(reading, RuleReading))


def test_a_window_begins_with_its_first_microsecond_and_ends_before_its_last(
    context: RuleContext, events: Sequence[Event]
) -> None:
    at = sorted(event.at for event in events)[len(events) // 2]
    microsecond, minute = timedelta(microseconds=1), timedelta(seconds=60)
    untils = [at, at + microsecond, at + minute, at + minute + microsecond]
    rules = [rule(threshold("event_count", 60, {}), until) for until in untils]
    values = [evaluate(context, [one])[one.alert_id] for one in rules]
    counts = [one.value for one in values if isinstance(one, RuleReading)]
    same = sum(event.at == at for event in events)
    assert counts == [computed(events, one) for one in rules]
    assert counts[1] == (counts[0] or 0) + same - sum(at - minute == event.at for event in events)
    assert counts[3] == (counts[2] or 0) - same + sum(event.at == at + minute for event in events)


MATCHES: tuple[tuple[dict[str, str], str], ...] = (
    ({"event_type": "error"}, ""),
    ({"event_type": "error", "environment": "canary"}, ""),
    ({"event_type": "error", "error_type": "ToolError", "agent_id": "airline-support"}, ""),
    ({"event_type": "error", "error_type": "OtherError"}, ""),
    ({"event_type": "tool_use", "tool_name": "calculate"}, ""),
    ({"event_type": "error"}, "NOT enough SEATS"),
    ({"event_type": "tool_result"}, "balance is not"),
    ({"event_type": "tool_result", "tool_name": "book_reservation"}, "gift card"),
    ({"event_type": "error"}, "100% wrong_"),
    ({"event_type": "agent_end"}, "Error"),
)


@pytest.mark.parametrize("lookback", [60, 3600, 30 * 86_400])
def test_events_that_match_are_counted_and_the_newest_shown(
    context: RuleContext, events: Sequence[Event], lookback: int
) -> None:
    # Shortly after an event that matches, or long after all of them.
    seats = [event for event in events if "not enough seats" in event.text("message")]
    until = seats[len(seats) // 2].at + timedelta(seconds=30)
    if lookback > 86_400:
        until = NEWEST + timedelta(days=29)
    rules = [
        rule(
            msgspec.convert(
                {**named, "lookback_secs": lookback, "message_contains": message or None}, PerEvent
            ),
            until,
        )
        for named, message in MATCHES
    ]
    outcomes = evaluate(context, rules)
    for one, (named, message) in zip(rules, MATCHES, strict=True):
        found = [
            event
            for event in events
            if until - timedelta(seconds=lookback) <= event.at < until
            and all(event.text(name) == value for name, value in named.items())
            and message.lower() in (event.text("message") + event.text("error")).lower()
        ]
        reading = outcomes[one.alert_id]
        assert isinstance(reading, RuleReading)
        assert (reading.value, reading.breached) == (len(found), bool(found))
        newest = sorted(found, key=lambda event: event.at)[-MAX_SAMPLES:]
        shown = set(reading.evidence.get("session_ids", ()))
        assert shown == {event.session for event in newest}
    assert sum(one.breached for one in outcomes.values() if isinstance(one, RuleReading)) >= 1


def test_evidence_names_what_was_compared(context: RuleContext, events: Sequence[Event]) -> None:
    spec = MetricThreshold(
        metric="error_rate",
        op="gte",
        value=0.001,
        window_secs=2 * 86_400,
        filter=EventFilter(environment="staging"),
    )
    one = rule(spec, NEWEST)
    reading = evaluate(context, [one])[one.alert_id]
    found = matching(events, one)
    errors = [event for event in found if event.is_error]
    assert isinstance(reading, RuleReading)
    evidence = dict(reading.evidence)
    newest = sorted(errors, key=lambda event: event.at)[-MAX_SAMPLES:]
    assert set(evidence.pop("session_ids")) == {event.session for event in newest}
    assert len(evidence.pop("event_ids")) == MAX_SAMPLES
    assert evidence == {
        "metric": "error_rate",
        "value": len(errors) / len(found),
        "op": ">=",
        "bound": 0.001,
        "window": {
            "from": format_ts(from_us(to_us(NEWEST) - 2 * 86_400_000_000)),
            "to": format_ts(NEWEST),
        },
        "filter": {"environment": "staging"},
        "counts": {"events": len(found), "errors": len(errors)},
    }
    told = f"{100 * len(errors) / len(found):.1f} %"
    assert reading.summary == f"error_rate was {told} over the last 2 d (>= 0.1 %)"
