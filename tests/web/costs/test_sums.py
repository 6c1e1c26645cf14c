"""GET /v1/costs is what a slow sum over the events says, to the last digit."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.runtime import Org
from tests.web.costs.conftest import RANGE, Get, Send, at

TOKENS = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("cache_write_1h_tokens", "reasoning_tokens"),
)
ADDED = ("calls", "unpriced_calls", "assumed_calls", *TOKENS)
AMOUNTS = ("cost_usd", "reported_usd", "computed_usd", "difference_usd")
OWN = ("session_id", "agent_id", "model", "provider", "service_tier", "environment", "cost_source")
BERLIN = ZoneInfo("Europe/Berlin")

Event = dict[str, Any]


def generated(count: int) -> list[Event]:
    """Returns calls and other events, in an order of time that is not theirs."""
    draw = random.Random(20261126)
    events = []
    for number in range(count):
        session = f"s{draw.randrange(30)}"
        event: Event = {
            "session_id": session,
            "timestamp": at(number * 0.7),
            "type": draw.choice(["model_response"] * 6 + ["tool_result", "note"]),
            "agent_id": draw.choice(["main", "desk"]),
            "environment": draw.choice(["prod", "dev"]),
            "n": number,
        }
        if event["type"] == "model_response":
            event |= {
                "model": draw.choice(["gpt-4o", "claude-sonnet-4-5", "house-1", None]),
                "provider": draw.choice(["openai", "anthropic", None]),
                "service_tier": draw.choice(["batch", "standard", "odd"]),
                "input_tokens": draw.randrange(20_000),
                "output_tokens": draw.randrange(2000),
                "cache_read_tokens": draw.choice([None, 500]),
                "cache_write_tokens": draw.choice([None, 700]),
                "reasoning_tokens": draw.choice([None, 90]),
            }
        if draw.random() < 0.3:
            event["cost_usd"] = f"0.{draw.randrange(10**12):012}"
        if draw.random() < 0.15:
            event["user_id"] = draw.choice(["zoe", "ann", "Ann"])
        if draw.random() < 0.1:
            event["agent_version"] = draw.choice(["1", "2"])
        if draw.random() < 0.1:
            event["tags"] = draw.sample(["x", "y", "z"], 2)
        if draw.random() < 0.5:
            event["attributes"] = {"plan": draw.choice(["pro", "free"])}
        events.append(event)
    draw.shuffle(events)
    return events


@pytest.fixture
def events(
    client: FlaskClient, headers: Headers, send: Send, runtime: Runtime, org: Org
) -> list[Event]:
    """Stores events, of which a twentieth come twice; returns each with its columns of money."""
    made = generated(600)
    send(made[:300])
    send([*made[300:], *made[:30]])
    query = {"limit": 1000, **RANGE}
    listed = client.get("/v1/events", query_string=query, headers=headers).get_json()["events"]
    assert len(listed) == 600
    rows = runtime.clickhouse.rows(
        f"SELECT id, model, cost_notes, {', '.join(AMOUNTS[:3])} FROM events FINAL"
        " WHERE org_id = {org_id:String}",
        {"org_id": org.id},
    )
    columns = {
        row[0]: dict(zip(("model", "notes", *AMOUNTS), row[1:], strict=False)) for row in rows
    }
    return [{**event, **columns[event["id"]]} for event in listed]


def figures(calls: Iterable[Event]) -> dict[str, Any]:
    """Returns the figures of calls, as the answer has them."""
    found = [one for one in calls if one["cost_source"] is not None]
    amounts = {name: [one[name] for one in found if one[name] is not None] for name in AMOUNTS[:3]}
    both = [one for one in found if None not in (one["reported_usd"], one["computed_usd"])]
    difference = sum((one["reported_usd"] - one["computed_usd"] for one in both), Decimal(0))
    return {
        "calls": len(found),
        "unpriced_calls": sum(one["cost_source"] == "unpriced" for one in found),
        "assumed_calls": sum(bool(one["notes"]) for one in found),
        "sessions": len({one["session_id"] for one in found}),
        **{name: sum(one[name] or 0 for one in found) for name in TOKENS},
        **{name: float(sum(values, Decimal(0))) for name, values in amounts.items()},
        "cost_usd": float(sum(amounts["cost_usd"])) if amounts["cost_usd"] else None,
        "difference_usd": float(difference),
    }


def keys_of(events: list[Event], name: str) -> Callable[[Event], list[str | None]]:
    """Returns the function that tells the groups of a call."""
    if name == "tag":
        tags = defaultdict(set)
        for one in events:
            tags[one["session_id"]].update(one["tags"])
        return lambda call: sorted(tags[call["session_id"]]) or [None]
    if name.startswith("attr."):
        return lambda call: [call["attributes"].get(name.removeprefix("attr."))]
    return lambda call: [call[name]]


def grouped(events: list[Event], *names: str) -> dict[tuple[str | None, ...], list[Event]]:
    """Returns the calls of each group."""
    groups = defaultdict(list)
    tells = [keys_of(events, name) for name in names]
    for one in events:
        if one["cost_source"] is not None:
            for key in _product([tell(one) for tell in tells]):
                groups[key].append(one)
    return groups


def _product(parts: list[list[str | None]]) -> list[tuple[str | None, ...]]:
    keys: list[tuple[str | None, ...]] = [()]
    for part in parts:
        keys = [(*key, one) for key in keys for one in part]
    return keys


def pages(get: Get, **query: object) -> list[Any]:
    """Returns all pages of a list."""
    found = [get(**query)]
    while found[-1]["next_cursor"] is not None:
        found.append(get(**query, cursor=found[-1]["next_cursor"]))
    return found


def added(parts: Iterable[dict[str, Any]], name: str) -> Decimal:
    values = [part[name] for part in parts if part[name] is not None]
    return sum((Decimal(str(round(value, 12))) for value in values), Decimal(0))


def order(group: dict[str, Any]) -> tuple[object, ...]:
    cost, keys = group["cost_usd"], group["key"].values()
    return (-1 * (-1 if cost is None else cost), [(key is None, key or "") for key in keys])


def test_each_grouping_is_a_slow_sum(events: list[Event], get: Get) -> None:
    total = figures(events)
    assert total["unpriced_calls"] > 10
    assert total["assumed_calls"] > 10
    single = [(name,) for name in (*OWN, "user_id", "agent_version", "tag", "attr.plan")]
    for names in [*single, ("user_id", "model"), ("tag", "agent_version"), ("session_id", "model")]:
        expected = grouped(events, *names)
        found = pages(get, group_by=",".join(names), limit=7)
        groups = list(chain.from_iterable(page["groups"] for page in found))
        for page in found:
            assert page["total"] == total, names
        shown = {tuple(one["key"].values()): dict(one) for one in groups}
        assert all(tuple(one.pop("key")) == names for one in shown.values())
        assert shown == {key: figures(calls) for key, calls in expected.items()}, names
        assert groups == sorted(groups, key=order)
        first = [*found[0]["groups"], *filter(None, [found[0]["other"]])]
        for name in ("calls", "cost_usd", "input_tokens") if "tag" not in names else ():
            assert added(first, name) == added([total], name), names


def test_other_are_all_further_groups(events: list[Event], get: Get) -> None:
    found = pages(get, group_by="session_id", sort="calls", limit=20)
    calls = grouped(events, "session_id")
    for number, page in enumerate(found, 1):
        after = chain.from_iterable(one["groups"] for one in found[number:])
        rest = [call for one in after for call in calls[(one["key"]["session_id"],)]]
        assert page["other"] == (figures(rest) if rest else None)


def test_points_are_days_of_a_zone(events: list[Event], get: Get) -> None:
    """The night in which the clock of Berlin is put back lies in the range."""
    found = get(group_by="user_id", bucket="day", tz="Europe/Berlin")
    everything = {None: [one for one in events if one["cost_source"] is not None]}
    by_user = {key: calls for (key,), calls in grouped(events, "user_id").items()}
    dearest = sorted(found["groups"], key=order)[:10]
    assert [one["key"] for one in found["series"]] == [None, *(one["key"] for one in dearest)]
    for series in found["series"]:
        of = everything[None] if series["key"] is None else by_user[series["key"]["user_id"]]
        days = defaultdict(list)
        for call in of:
            moment = datetime.fromisoformat(call["ts"]).astimezone(BERLIN)
            days[moment.date()].append(call)
        assert len(series["points"]) == 46
        for number, point in enumerate(series["points"]):
            day = datetime(2026, 10, 1, tzinfo=BERLIN) + timedelta(days=number)
            calls = figures(days[day.date()])
            assert datetime.fromisoformat(point["ts"]) == day.astimezone(UTC)
            assert point["calls"] == calls["calls"]
            assert point["tokens"] == calls["input_tokens"] + calls["output_tokens"]
            assert point["cost_usd"] == (calls["cost_usd"] if calls["calls"] else 0)


def test_filters_are_those_of_events(events: list[Event], get: Get) -> None:
    for query, keep in (
        ({"user_id": "zoe"}, lambda one: one["user_id"] == "zoe"),
        ({"missing": "user_id"}, lambda one: one["user_id"] is None),
        (
            {"agent_version": "1,2", "environment": "prod"},
            lambda one: one["agent_version"] and one["environment"] == "prod",
        ),
        ({"attr.plan": "pro"}, lambda one: one["attributes"].get("plan") == "pro"),
        ({"cost_source": "unpriced"}, lambda one: one["cost_source"] == "unpriced"),
        ({"service_tier": "batch"}, lambda one: one["service_tier"] == "batch"),
    ):
        assert get(**query)["total"] == figures(filter(keep, events)), query


def test_unpriced_calls_are_listed_with_their_shares(events: list[Event], get: Get) -> None:
    found = get("costs/unpriced")
    calls = [one for one in events if one["cost_source"] is not None]
    tokens = sum((one["input_tokens"] or 0) + (one["output_tokens"] or 0) for one in calls)
    missing = [one for one in calls if one["cost_source"] == "unpriced"]
    assert found["total"]["calls"] == len(calls)
    assert found["total"]["unpriced_calls"] == len(missing)
    assert found["total"]["share_of_calls"] == len(missing) / len(calls)
    by_key = grouped(missing, "model", "provider", "service_tier")
    listed: dict[tuple[str | None, ...], int] = defaultdict(int)
    for row in found["models"]:
        key = (row["model"], row["provider"], row["service_tier"])
        listed[key] += row["calls"]
        assert row["reason"] == ("no_model" if row["model"] is None else "no_price")
        of_row = sorted(by_key[key], key=lambda one: one["ts"])
        assert (row["first_at"], row["last_at"]) == (of_row[0]["ts"], of_row[-1]["ts"])
        assert row["example"]["event_id"] == of_row[-1]["id"]
        own = sum(one["input_tokens"] + one["output_tokens"] for one in of_row)
        assert row["share_of_tokens"] == own / tokens
    assert listed == {key: len(of_row) for key, of_row in by_key.items()}
    assert [row["calls"] for row in found["models"]] == sorted(listed.values(), reverse=True)
