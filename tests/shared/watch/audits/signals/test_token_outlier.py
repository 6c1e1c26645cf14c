"""Sessions that use far more tokens than the other sessions of their agent."""

import random

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.token_outlier import find
from tests.shared.watch.audits.signals.lines import BEFORE, NOW, line
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org


def session(session_id: str, tokens: int, **fields: object) -> list[bytes]:
    """Returns two responses with this number of tokens together."""
    half = tokens // 2
    return [
        line(NOW, 0, session_id, "model_response", input_tokens=half, output_tokens=10, **fields),
        line(NOW, 9, session_id, "model_response", input_tokens=tokens - half - 10, **fields),
    ]


def usual(count: int, seed: int, **fields: object) -> list[bytes]:
    """Returns sessions of some ten thousand tokens, skewed as those of agents are."""
    rng = random.Random(seed)
    name = fields.get("agent_id", "main")
    return [
        one
        for n in range(count)
        for one in session(f"{name}-{n}", round(20_000 * rng.lognormvariate(0, 0.6)), **fields)
    ]


def test_the_outlier_is_cited_with_the_limit(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines = usual(80, 1) + session("burnt", 2_000_000)
    ingest(clickhouse, org.id, lines)
    ingest(clickhouse, org.id, lines[::3])
    ingest(clickhouse, org.id, [line(BEFORE, 0, "old", "model_response", input_tokens=4_000_000)])
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("main",)
    assert candidate.session_ids == ("burnt",)
    assert len(candidate.event_ids) == 2
    assert candidate.numbers["sessions"] == 81
    assert candidate.numbers["outlier_sessions"] == 1
    assert candidate.numbers["highest_tokens"] == candidate.numbers["outlier_tokens"] == 2_000_000
    require_reproduced(runner, look, candidate)


def test_an_agent_is_compared_with_itself_alone(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, usual(50, 2, agent_id="small"))
    large = [
        one for n in range(50) for one in session(f"l{n}", 900_000 + n * 1000, agent_id="large")
    ]
    ingest(clickhouse, org.id, large)
    assert found_by(find, look_at(clickhouse, org.id)) == {}


def alike(agent: str, count: int, outlier: int) -> list[bytes]:
    """Returns sessions of about 20,000 tokens, and one of another size."""
    sessions = [
        session(f"{agent}+{n}", 20_000 + 500 * (n % 9), agent_id=agent) for n in range(count)
    ]
    lines = [one for each in sessions for one in each]
    return lines + session(f"{agent}-x", outlier, agent_id=agent)


def test_far_more_depends_on_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    lines: list[bytes] = []
    for agent, tokens in (("a", 4_000_000), ("b", 300_000), ("c", 160_000), ("d", 60_000)):
        lines += alike(agent, 60, tokens)
    ingest(clickhouse, org.id, lines + alike("few", 8, 9_000_000))
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert low == {("a",), ("b",)}
    assert medium == {("a",), ("b",), ("c",)}
    assert high == medium


def test_the_largest_of_many_is_no_outlier(clickhouse: ClickHouse, org: Org) -> None:
    # Any seed will do: the largest of 600 is expected at 3.6 deviations.
    lines: list[bytes] = []
    for seed in range(4):
        lines += usual(600, seed, agent_id=f"agent-{seed}")
    ingest(clickhouse, org.id, lines)
    assert nested(find, look_at(clickhouse, org.id))[:2] == [set(), set()]


def test_severity_and_magnitude_follow_what_it_costs(clickhouse: ClickHouse, org: Org) -> None:
    lines: list[bytes] = []
    for agent, tokens in (("runaway", 80_000_000), ("burnt", 900_000), ("long", 170_000)):
        lines += alike(agent, 60, tokens)
    ingest(clickhouse, org.id, lines)
    found = found_by(find, look_at(clickhouse, org.id))
    assert {key[0]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "runaway": ("critical", "big"),
        "burnt": ("warning", "medium"),
        "long": ("info", "small"),
    }
