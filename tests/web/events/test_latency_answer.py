"""GET /events/latency_aggregate: the answer, field by field."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.core.clock import format_ts, now
from tests.support.app import Headers
from tests.web.events.conftest import at, result, use

Store = Callable[[Sequence[object]], None]
Latency = Callable[..., dict[str, Any]]

EDGES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000]
EMPTY = {"count": 0, "error_count": 0, "p50": None, "p95": None, "p99": None, "max": None}


def pairs(*latencies: float, start: float = 1, **fields: Any) -> list[dict[str, Any]]:
    """Returns pairs with these latencies, all from `start` on."""
    found = []
    for number, latency in enumerate(latencies):
        call = f"{start}-{number}-{fields}"
        found += [use(start, call, **fields)]
        found += [result(start + 1, call, duration_ms=latency, **fields)]
    return found


def names(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(row["key"], row["count"]) for row in answer["distribution"]]


def test_an_organization_without_events(latency: Latency) -> None:
    answer = latency(bin_count=2, payload_sum_paths="ms:duration_ms")
    nothing = {**EMPTY, "p10": None, "p25": None, "p75": None, "p90": None}
    assert answer == {
        "bounds": {"from": at(0), "to": at(3600), "bin_ms": 1_800_000},
        "bins": [{"ts": at(0), **nothing}, {"ts": at(1800), **nothing}],
        "heatmap": {"edges_ms": EDGES, "counts": [[0] * 12] * 2},
        "summary": EMPTY,
        "events": {"start": 0, "end": 0, "unpaired_start": 0},
        "sums": {"ms": 0},
        "distribution": [],
    }


def test_quantiles_are_interpolated_between_neighbours(store: Store, latency: Latency) -> None:
    store(pairs(10, 20, 40, 80))
    [found] = latency()["bins"]
    assert found == {
        "ts": at(0),
        "count": 4,
        "error_count": 0,
        "p10": 13,
        "p25": 17.5,
        "p50": 30,
        "p75": 50,
        "p90": pytest.approx(68),
        "p95": pytest.approx(74),
        "p99": pytest.approx(78.8),
        "max": 80,
    }


def test_one_pair_is_every_quantile(store: Store, latency: Latency) -> None:
    store(pairs(7))
    [row] = latency()["distribution"]
    assert set(row.values()) == {"(none)", 1, 0, 7}


def test_bins_are_equal_parts_of_the_range(store: Store, latency: Latency) -> None:
    """Seven parts of ten microseconds. Each begins at its first whole microsecond."""
    moments = [n / 1_000_000 for n in range(10)]
    store([event for n, moment in enumerate(moments) for event in pairs(n, start=moment)])
    answer = latency(ts_to=at(0.000_010), bin_count=7)
    assert answer["bounds"]["bin_ms"] == pytest.approx(0.01 / 7)
    begins = [0, 2, 3, 5, 6, 8, 9]
    assert [found["ts"] for found in answer["bins"]] == [at(n / 1_000_000) for n in begins]
    assert [found["count"] for found in answer["bins"]] == [2, 1, 2, 1, 2, 1, 1]
    assert [found["max"] for found in answer["bins"]] == [1, 2, 4, 5, 7, 8, 9]


def test_the_default_range_is_the_last_24_hours(
    store: Store, client: FlaskClient, reader: Headers
) -> None:
    moment = now() - timedelta(hours=23)
    recent = {"timestamp": format_ts(moment)}
    old = {"timestamp": format_ts(moment - timedelta(hours=2))}
    store([use(0, "a", **recent), result(0, "a", **recent, duration_ms=1)])
    store([use(0, "b", **old), result(0, "b", **old, duration_ms=2)])
    answer = client.get("/v1/events/latency_aggregate", headers=reader).get_json()
    assert answer["summary"]["max"] == 1
    assert answer["bounds"]["bin_ms"] == 3_600_000
    assert len(answer["bins"]) == 24
    until = {"ts_to": format_ts(moment)}
    answer = client.get("/v1/events/latency_aggregate", query_string=until, headers=reader)
    assert answer.get_json()["bounds"]["from"] == format_ts(moment - timedelta(hours=24))
    assert answer.get_json()["summary"]["max"] == 2


def test_the_bands_of_the_heatmap(store: Store, latency: Latency) -> None:
    store(pairs(0, 1, 2, 3, 9, 10, 29_999, 30_000, 300_000, 999_999, 1_000_000, 4_000_000_000))
    late = pairs(999, 1000, start=3000)
    store([*late, use(3000, "short"), result(3000.000_999, "short")])
    heatmap = latency(bin_count=2)["heatmap"]
    assert heatmap == {
        "edges_ms": EDGES,
        "counts": [[3, 2, 1, 0, 0, 0, 0, 0, 1, 1, 0, 4], [1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]],
    }


def test_outcome_chooses_pairs_by_their_close_and_leaves_events_alone(
    store: Store, latency: Latency
) -> None:
    store(pairs(1, 2) + pairs(3, outcome="failed") + pairs(4, error="no"))
    store([use(5, "a", error="ignored"), result(6, "a", duration_ms=5), use(7, "open")])
    found = {name: latency(outcome=name) for name in ("all", "success", "error")}
    assert {
        name: (answer["summary"]["count"], answer["summary"]["error_count"])
        for name, answer in found.items()
    } == {"all": (5, 2), "success": (3, 0), "error": (2, 2)}
    events = {"start": 6, "end": 5, "unpaired_start": 1}
    assert all(answer["events"] == events for answer in found.values())
    assert found["error"]["bins"][0]["p10"] == pytest.approx(3.1)


# Filters → the starts that count out of three, and the numbers of closes and open starts.
FILTERS: list[tuple[dict[str, str], tuple[int, int, int, int]]] = [
    ({}, (2, 3, 3, 1)),
    ({"tool_name": "t"}, (1, 1, 1, 0)),
    ({"tool_name": "t,u"}, (2, 2, 2, 0)),
    ({"tool_name": "t", "error_type": "E"}, (1, 1, 1, 0)),
    ({"tool_name": "u", "error_type": "E"}, (0, 0, 0, 0)),
    ({"tool_name": "w"}, (0, 1, 0, 1)),
    ({"tool_name": "lost"}, (0, 0, 1, 0)),
    ({"errored": "true"}, (1, 1, 1, 0)),
    ({"environment": "e"}, (1, 1, 1, 0)),
    ({"agent_id": "main"}, (2, 3, 3, 1)),
    ({"session_id": "nobody"}, (0, 0, 0, 0)),
    ({"session_id": "s,nobody"}, (2, 3, 3, 1)),
    ({"event_type": "tool_result"}, (2, 2, 3, 0)),
    ({"event_type": "note"}, (0, 0, 0, 0)),
    ({"search": "PARIS"}, (1, 1, 1, 0)),
    ({"search": "paris", "search_exclude": "input"}, (0, 0, 0, 0)),
    ({"payload_contains": "input.city:ARI"}, (1, 1, 1, 0)),
    ({"payload_contains": "input.city:ari,output:o"}, (1, 1, 1, 0)),
    ({"payload_contains": "input.city:ari,output:x"}, (0, 0, 0, 0)),
    ({"payload_contains": r"output:o\, so: \"fine\""}, (0, 0, 0, 0)),
    ({"payload_contains": r'output:o\, so: "FINE"'}, (1, 1, 1, 0)),
    ({"payload_contains": "input:paris"}, (1, 1, 1, 0)),
    ({"payload_contains": "tool_name:T"}, (1, 1, 2, 0)),
    ({"payload_contains": "n:1"}, (1, 1, 1, 0)),
]


def test_a_filter_holds_for_a_pair_if_it_holds_for_one_of_its_events(
    store: Store, latency: Latency
) -> None:
    failed = {"error_type": "E", "error": "e", "environment": "e"}
    store(
        [
            use(1, "a", tool_name="t", input={"city": "Paris"}),
            result(2, "a", output='o, so: "fine"', **failed),
            use(3, "b", tool_name="u", n=12),
            result(4, "b", tool_name="u"),
            use(5, "open", tool_name="w"),
            result(6, "lost", tool_name="lost"),
        ]
    )
    for given, expected in FILTERS:
        answer = latency(**given)
        of = answer["events"]
        counts = answer["summary"]["count"], of["start"], of["end"], of["unpaired_start"]
        assert counts == expected, given


def test_the_ten_largest_keys_and_the_others_pooled(store: Store, latency: Latency) -> None:
    sent = []
    for n in range(12):
        tool = f"t{n:02}"
        sent += pairs(*[n + 1] * (3 if n == 11 else 2 if n < 9 else 1), tool_name=tool)
    store(sent)
    answer = latency()
    assert names(answer) == [
        ("t11", 3),
        *((f"t{n:02}", 2) for n in range(9)),
        ("(other)", 2),
    ]
    assert answer["distribution"][-1] == {
        "key": "(other)",
        "count": 2,
        "error_count": 0,
        "p50": 10.5,
        "p95": pytest.approx(10.95),
        "p99": pytest.approx(10.99),
        "max": 11,
    }


def test_ten_keys_leave_no_others(store: Store, latency: Latency) -> None:
    store([event for n in range(10) for event in pairs(n, tool_name=f"t{n}")])
    assert names(latency()) == [(f"t{n}", 1) for n in range(10)]


def test_a_key_that_is_called_other_stays_one(store: Store, latency: Latency) -> None:
    store([event for n in range(11) for event in pairs(n, tool_name=f"t{n:02}")])
    store(pairs(1, 2, tool_name="(other)"))
    assert names(latency()) == [
        ("(other)", 2),
        *((f"t{n:02}", 1) for n in range(9)),
        ("(other)", 2),
    ]


def test_keys_without_a_pair_that_counts_are_left_out(store: Store, latency: Latency) -> None:
    store(
        [
            *pairs(1, tool_name="t"),
            use(5, "open", tool_name="u"),
            *pairs(2, tool_name="v", error="e"),
        ]
    )
    assert names(latency(outcome="success")) == [("t", 1)]


def test_the_key_of_the_distribution(store: Store, latency: Latency) -> None:
    """The first path that one of the two events has, the closing event's value first."""
    store([use(1, "a", x="of start", y="y"), result(2, "a", x="of close")])
    store([use(1, "b", x="of start"), result(2, "b")])
    store([use(1, "c"), result(2, "c", y={"z": [1, "é"]})])
    store([use(1, "d", y=False), result(2, "d")])
    store([use(1, "e", x="é" * 513, y=None), result(2, "e")])
    store([use(1, "f", x="é" * 512), result(2, "f", x="")])
    found = names(latency(distribution_key_paths="x,y"))
    keys = ["(none)", "false", "of close", "of start", '{"z":[1,"é"]}', "é" * 512]
    assert found == [(key, 1) for key in keys]


# Types of a pair → the default path of the distribution.
DEFAULTS = [
    ("tool_use", "tool_result", "tool"),
    ("model_request", "model_response", "model"),
    ("hook_triggered", "hook_completed", "hook"),
    ("human_wait", "human_input", "agent"),
    ("mine", "yours", "agent"),
]


def test_the_default_key_of_the_distribution(store: Store, latency: Latency) -> None:
    fields = {"tool_name": "tool", "model": "model", "hook_name": "hook", "agent_id": "agent"}
    for start, end, name in DEFAULTS:
        store([use(1, **fields, type=start), result(2, **fields, type=end)])
        answer = latency(start_event_type=start, end_event_type=end)
        assert names(answer) == [(name, 1)]


def test_sums_add_up_the_closing_events_of_the_pairs_that_count(
    store: Store, latency: Latency
) -> None:
    store(
        [
            use(1, "a", input_tokens=1000),
            result(2, "a", duration_ms=5, input_tokens=4_000_000_000, output_tokens=3),
            use(1, "b"),
            result(3, "b", input_tokens=4_000_000_000),
            use(1, "c"),
            result(3, "c", input_tokens=7, error="e"),
            result(5, "lost", input_tokens=9),
        ]
    )
    wanted = r"a.b: c\,d:input_tokens,out:output_tokens,ms:duration_ms,again:output_tokens"
    sums = latency(payload_sum_paths=wanted, outcome="success")["sums"]
    assert sums == {"a.b: c,d": 8_000_000_000, "out": 3, "ms": 5, "again": 3}


def test_paths_are_values_and_never_sql(store: Store, latency: Latency) -> None:
    strange = "a') OR 1=1 --"
    braces = "{org_id:String}`\"\\'"
    store([use(1, **{strange: {braces: "k"}}), result(2, **{strange: {braces: "k"}}, n=1)])
    path = f"{strange}.{braces}"
    answer = latency(
        pair_key_paths=path, distribution_key_paths=path, payload_contains=f"{strange}.n:x"
    )
    assert answer["summary"]["count"] == 0
    answer = latency(pair_key_paths=path, distribution_key_paths=path)
    assert names(answer) == [("k", 1)]
