"""Sessions that fill the context window of their model."""

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.context_pressure import find
from tests.shared.watch.audits.signals.lines import BEFORE, NOW, line
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org

WINDOW = 128_000


def response(session_id: str, fill: float, second: float = 0, **fields: object) -> bytes:
    """Returns a response of gpt-4o that fills this share of its window."""
    plain = {"model": "gpt-4o", "output_tokens": 1000, "input_tokens": round(fill * WINDOW) - 1000}
    day = fields.pop("day", NOW)
    return line(day, second, session_id, "model_response", **(plain | fields))


def test_sessions_are_counted_once_and_whatever_was_sent_twice(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    lines = [response(f"calm-{n}", 0.3, n) for n in range(7)]
    lines += [response(f"full-{n % 3}", 0.81 + n / 100, 100 + n) for n in range(9)]
    lines += [response("yesterday", 0.99, day=BEFORE)]
    ingest(clickhouse, org.id, lines)
    ingest(clickhouse, org.id, lines[::2])
    look = look_at(clickhouse, org.id)
    [candidate] = found_by(find, look).values()
    assert candidate.key == ("main", "gpt-4o")
    assert candidate.numbers == {
        "sessions": 10,
        "filled_sessions": 3,
        "filled_responses": 9,
        "sessions_at_limit": 0,
        "highest_fill": 0.89,
    }
    assert candidate.session_ids == ("full-2", "full-1", "full-0")
    assert len(candidate.event_ids) == 9
    require_reproduced(runner, look, candidate)


def test_the_limit_of_fullness_depends_on_the_sensitivity(clickhouse: ClickHouse, org: Org) -> None:
    lines = [response(agent, fill, agent_id=agent) for agent, fill in _FILLS.items()]
    unknown = response("x", 9.0, model="nobody-knows", agent_id="unknown")
    ingest(clickhouse, org.id, [*lines, unknown])
    found = nested(find, look_at(clickhouse, org.id))
    assert found == [
        {(agent, "gpt-4o") for agent, fill in _FILLS.items() if fill >= limit}
        for limit in (0.9, 0.8, 0.7)
    ]


_FILLS = {"a": 0.95, "b": 0.9, "c": 0.85, "d": 0.75, "e": 0.69}


def test_an_agent_that_is_always_full_is_critical(clickhouse: ClickHouse, org: Org) -> None:
    lines = [response(f"a{n}", 1.0, n, agent_id="always") for n in range(12)]
    lines += [response(f"s{n}", 1.0 if n < 2 else 0.2, n, agent_id="seldom") for n in range(50)]
    ingest(clickhouse, org.id, [*lines, response("n", 0.82, agent_id="nearly")])
    found = found_by(find, look_at(clickhouse, org.id))
    assert {key[0]: (one.severity, one.magnitude) for key, one in found.items()} == {
        "always": ("critical", "big"),
        "seldom": ("warning", "small"),
        "nearly": ("info", "big"),
    }
