"""Two organizations whose sessions are decided both in ClickHouse and in Python."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.core.ids import new_id
from tests.support.airline import Airline
from tests.support.conditions import (
    Event,
    SessionEvents,
    by_session,
    store_lines,
    write_again,
)
from tests.support.events import event

ODD = ["a'b", 'c"d\\', "{x:String}", "%_", "ÄÖü 😀", "null", "a,b", "leaf_1", "'] OR 1=1 --", "\\"]


@dataclass(frozen=True)
class DecidedOrg:
    """An organization, and its sessions as they should be read."""

    org_id: str
    sessions: dict[str, SessionEvents]


@pytest.fixture(scope="module")
def _copies_stay(clickhouse: ClickHouse) -> Iterator[None]:
    """Keeps the copies of events unmerged."""
    clickhouse.execute("SYSTEM STOP MERGES events")
    yield
    clickhouse.execute("SYSTEM START MERGES events")


@pytest.fixture(scope="module")
def airline_sessions(clickhouse: ClickHouse, airline: Airline, _copies_stay: None) -> DecidedOrg:
    """The recording, of which a third was sent again in another order."""
    org_id = str(new_id())
    again = random.Random(20250401).sample(airline.lines, len(airline.lines) // 3)
    rows = store_lines(clickhouse, org_id, airline.lines) + store_lines(clickhouse, org_id, again)
    return DecidedOrg(org_id, by_session(rows))


@pytest.fixture(scope="module")
def odd_sessions(clickhouse: ClickHouse, _copies_stay: None) -> DecidedOrg:
    """Sessions with hostile names, ties, copies, late starts and several ends."""
    org_id, other = str(new_id()), str(new_id())
    random_ = random.Random(27)
    lines = [line for number in range(60) for line in _session(number, random_)]
    rows: list[Event] = []
    # The batches of a session arrive in any order, and some events again.
    random_.shuffle(lines)
    for start in range(0, len(lines), 100):
        batch = lines[start : start + 100]
        rows += store_lines(clickhouse, org_id, batch)
        rows += store_lines(clickhouse, org_id, random_.choices(batch, k=20))
        store_lines(clickhouse, other, random_.choices(batch, k=50))
    for row in random_.sample([one for one in rows if one["input_tokens"]], 5):
        rows.append(write_again(clickhouse, row, input_tokens=row["input_tokens"] * 1000))
    return DecidedOrg(org_id, by_session(rows))


def _session(number: int, random_: random.Random) -> list[bytes]:
    name = f"{random_.choice(ODD)}{number}"
    tools = random_.sample(ODD, 3)
    return [
        event(
            name,
            # Few moments, so that events of different batches share one.
            f"10:00:{random_.randrange(6):02}",
            random_.choice(
                ("tool_use", "tool_result", "model_response", "hook_triggered", "error")
            ),
            nonce=f"{number}.{place}",
            agent_id=random_.choice(("root", "root", "helper", ODD[0])),
            environment=random_.choice(("production", "canary", ODD[4])),
            **_fields(random_, tools),
        )
        for place in range(random_.randrange(1, 14))
    ] + [
        event(
            name,
            f"10:00:{random_.randrange(3, 9):02}",
            random_.choice(("agent_start", "agent_end", "agent_end", "agent_end")),
            nonce=f"{number}.end.{place}",
            agent_id=random_.choice(("root", "root", "root", "helper")),
            outcome=random_.choice(("Success", "failed", "ÄRGER", None, "")),
        )
        for place in range(random_.randrange(4))
    ]


def _fields(random_: random.Random, tools: list[str]) -> dict[str, object]:
    chosen: dict[str, object] = {
        "tool_name": random_.choice([*tools, "", None]),
        "hook_name": random_.choice([*ODD, None, None]),
        "model": random_.choice(["m-1", "m-2", *ODD, None, None]),
        "error_type": random_.choice([*ODD, None, None]),
        "error": random_.choice([None, None, None, "it broke"]),
        "text": random_.choice(["Kelvin base", "50% (off)", 'say "hi"', "x/y\n"]),
        "number": random_.choice([12.5, True, None, -3]),
    }
    if random_.random() < 0.3:
        chosen |= {"input_tokens": random_.randrange(2000), "output_tokens": random_.randrange(90)}
    return {name: value for name, value in chosen.items() if value is not None}
