"""GET /events/latency_aggregate: the pairs and their latencies."""

from collections.abc import Callable, Sequence
from typing import Any

from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from tests.support.app import new_key
from tests.support.runtime import make_org
from tests.web.events.conftest import at, result, use

Store = Callable[[Sequence[object]], None]
Latency = Callable[..., dict[str, Any]]

HOOKS = {"start_event_type": "hook_triggered", "end_event_type": "hook_completed"}


def longest(answer: dict[str, Any]) -> list[float]:
    """Returns the longest latency of each key of the distribution."""
    return [row["max"] for row in sorted(answer["distribution"], key=lambda row: str(row["key"]))]


def counts(answer: dict[str, Any]) -> tuple[int, int, int, int]:
    """Returns the numbers of pairs, starts, closes, and starts without a close."""
    events = answer["events"]
    return answer["summary"]["count"], events["start"], events["end"], events["unpaired_start"]


# Events of a pair → its latency in milliseconds.
LATENCIES: list[tuple[list[dict[str, Any]], float]] = [
    ([use(1, "a"), result(3.5, "a", duration_ms=700)], 700),
    ([use(1, "a"), result(3.5, "a", duration_ms=0)], 0),
    ([use(1, "a"), result(3.5, "a")], 2500),
    ([use(1, "a"), result(1.000_25, "a")], 0.25),
    ([use(1, "a"), result(3, "a", duration_ms="700")], 2000),
    ([use(1, "a"), result(3, "a", duration_ms=-1)], 2000),
    ([use(1, "a", duration_ms=9), result(3, "a")], 2000),
    ([use(1, "a"), result(0.9, "a")], 0),
    ([use(1, "a"), result(0.9, "a", duration_ms=5)], 5),
    ([use(1, "a"), result(1, "a")], 0),
]


def test_the_latency_of_a_pair(store: Store, latency: Latency) -> None:
    cases = {f"s{number:02}": case for number, case in enumerate(LATENCIES)}
    store([{**event, "session_id": name} for name, (sent, _) in cases.items() for event in sent])
    answer = latency(distribution_key_paths="session_id")
    assert counts(answer) == (len(cases), len(cases), len(cases), 0)
    found = {row["key"]: row["max"] for row in answer["distribution"]}
    assert found == {name: expected for name, (_, expected) in cases.items()}


def test_a_key_that_is_used_again_pairs_in_order(store: Store, latency: Latency) -> None:
    sent = [use(1, "a"), result(2, "a", n=1), use(10, "a"), result(13, "a", n=2), use(20, "a")]
    store(sent[::-1])
    answer = latency(distribution_key_paths="n")
    assert counts(answer) == (2, 3, 2, 1)
    assert longest(answer) == [1000, 3000]


def test_the_oldest_open_start_is_closed_first(store: Store, latency: Latency) -> None:
    store([use(1, "a"), use(2, "a"), result(4, "a", n=1), result(8, "a", n=2)])
    assert longest(latency(distribution_key_paths="n")) == [3000, 6000]


def test_keys_pair_across_the_agents_of_a_session_and_never_across_sessions(
    store: Store, latency: Latency
) -> None:
    store([use(1, "a", agent_id="x"), result(2, "a", agent_id="y")])
    store([use(1, "b", session_id="t"), result(2, "b", session_id="u")])
    assert counts(latency()) == (1, 2, 2, 1)


def test_nothing_pairs_across_organizations(
    store: Store, latency: Latency, client: FlaskClient, runtime: Runtime
) -> None:
    other = new_key(runtime, make_org(runtime))
    store([use(1, "a")])
    answer = client.post(
        "/v1/events", json=[result(2, "a")], headers=other, content_type="application/json"
    )
    assert answer.status_code == 202
    Drain(runtime, "tests", IngestRulesCache(runtime)).run()
    assert counts(latency()) == (0, 1, 0, 1)


# Fields of the start, fields of the close → whether they share a key (default paths).
KEYS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"tool_call_id": "a"}, {"tool_call_id": "a"}, True),
    ({"tool_call_id": "a"}, {"tool_call_id": "b"}, False),
    ({"tool_call_id": "a", "id": 7}, {"tool_call_id": "b", "id": 7}, False),
    ({"tool_call_id": "a", "hook_id": "h"}, {"hook_id": "h"}, True),
    ({"request_id": "a"}, {"tool_call_id": "x", "request_id": "a"}, True),
    ({"id": 7}, {"id": 7}, True),
    ({"id": 7}, {"id": "7"}, True),
    ({"id": 7}, {"id": 8}, False),
    ({"tool_call_id": "", "id": True}, {"tool_call_id": "", "id": True}, True),
    ({"tool_call_id": "a"}, {"request_id": "a"}, True),
    ({"tool_call_id": "a", "id": 1}, {"id": 2}, False),
]


def test_the_first_path_that_both_have_decides(store: Store, latency: Latency) -> None:
    """Where the two have no path in common, as in the last case but one, they pair in order."""
    sessions = {f"s{number:02}": case for number, case in enumerate(KEYS)}
    for name, (of_start, of_close, _) in sessions.items():
        both = {"session_id": name}
        store([use(1, **of_start, **both), result(2, **of_close, **both)])
    answer = latency(distribution_key_paths="session_id")
    expected = [name for name, (_, _, is_pair) in sessions.items() if is_pair]
    assert [row["key"] for row in answer["distribution"]] == expected
    lone = len(KEYS) - len(expected)
    assert counts(answer) == (len(expected), len(KEYS), len(KEYS), lone)


def test_a_path_that_closes_lack_separates_none_of_them(store: Store, latency: Latency) -> None:
    """Two hooks of one tool call: each has an id, and only their starts name the call."""
    store(
        [
            use(1, "c", type="hook_triggered", hook_id="before"),
            use(2, "c", type="hook_triggered", hook_id="after"),
            result(5, type="hook_completed", hook_id="after", n=2),
            result(9, type="hook_completed", hook_id="before", n=1),
        ]
    )
    answer = latency(distribution_key_paths="n", **HOOKS)
    assert counts(answer) == (2, 2, 2, 0)
    assert longest(answer) == [8000, 3000]


def test_an_event_uses_a_later_path_if_an_earlier_one_has_no_match(
    store: Store, latency: Latency
) -> None:
    store(
        [
            use(1, "a", request_id="r"),
            result(2, "a", n=1),
            use(3, "b", request_id="q"),
            result(5, request_id="q", n=2),
            use(6, "c", request_id="p"),
            result(9, "d", request_id="p", n=3),
        ]
    )
    answer = latency(distribution_key_paths="n")
    assert counts(answer) == (2, 3, 3, 1)
    assert longest(answer) == [1000, 2000]


def test_paths_of_pairs_can_be_chosen(store: Store, latency: Latency) -> None:
    store(
        [
            use(1, "same", input={"step": {"no": 1}}),
            use(2, "same", input={"step": {"no": 2}}),
            result(4, "same", input={"step": {"no": 2}}, n=2),
            result(8, "same", input={"step": {"no": 1}}, n=1),
        ]
    )
    chosen = latency(distribution_key_paths="n", pair_key_paths="input.step.no,tool_call_id")
    assert longest(chosen) == [7000, 2000]


def test_without_keys_events_pair_in_order_inside_their_agent(
    store: Store, latency: Latency
) -> None:
    store(
        [
            use(1, agent_id="x"),
            use(2, agent_id="y"),
            result(3, agent_id="y", n=1),
            use(4, agent_id="x"),
            result(8, agent_id="x", n=2),
            result(13, agent_id="x", n=3),
            result(20, agent_id="x", n=4),
            use(30, agent_id="x"),
            result(35, agent_id="x", n=5),
            use(40, agent_id="z"),
        ]
    )
    answer = latency(distribution_key_paths="n")
    assert counts(answer) == (4, 5, 5, 1)
    assert [row["key"] for row in answer["distribution"]] == ["1", "2", "3", "5"]
    assert longest(answer) == [1000, 7000, 9000, 5000]


def test_an_event_with_a_key_leaves_those_without_alone(store: Store, latency: Latency) -> None:
    store([use(1, "a"), use(2, "b"), result(3, "a"), use(4), result(9)])
    answer = latency()
    assert counts(answer) == (2, 3, 2, 1)
    assert answer["summary"]["max"] == 5000


def test_a_path_that_only_one_type_has_in_a_session_is_no_key(
    store: Store, latency: Latency
) -> None:
    store([use(1, "a"), result(2), use(3, "b"), result(5)])
    store([use(1, "a", session_id="t"), result(4, "a", session_id="t")])
    answer = latency()
    assert counts(answer) == (3, 3, 3, 0)
    assert answer["summary"]["max"] == 3000


def test_a_pair_counts_where_it_starts(store: Store, latency: Latency) -> None:
    store(
        [
            use(-1, "before"),
            result(0, "before", duration_ms=1),
            use(0, "first"),
            result(0, "first", duration_ms=2),
            use(3599.999_999, "last"),
            result(3600 + 86_399, "last", duration_ms=3),
            use(3599, "late"),
            result(3600 + 86_400, "late", duration_ms=4),
            use(3600, "after"),
            result(3601, "after", duration_ms=5),
        ]
    )
    answer = latency()
    assert counts(answer) == (2, 3, 2, 1)
    assert answer["summary"]["max"] == 3


def test_a_start_before_the_range_keeps_its_close(store: Store, latency: Latency) -> None:
    """The beginning of the range does not change pairs, even between their events."""
    store([use(-3599), use(5), result(10), result(20)])
    assert counts(latency()) == (1, 1, 2, 0)
    assert latency()["summary"]["max"] == 15_000
    assert latency(ts_from=at(-3600))["summary"]["max"] == 3_609_000


def test_events_that_were_stored_twice_pair_once(store: Store, latency: Latency) -> None:
    sent = [use(n, f"c{n % 3}") for n in range(6)] + [result(10 + n, f"c{n % 3}") for n in range(6)]
    loose = [use(30), result(31), use(32), result(33)]
    store(sent + loose)
    once = latency()
    store(loose + sent[::-1])
    assert latency() == once
    assert counts(once) == (8, 8, 8, 0)


def test_events_of_one_batch_with_one_timestamp_pair(store: Store, latency: Latency) -> None:
    store([result(1, n=1), use(1, n=3), use(1, n=4), result(1, n=2)])
    assert counts(latency()) == (2, 2, 2, 0)
