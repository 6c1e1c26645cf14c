"""Lines of events of the audited day and of the day before."""

import json
from datetime import timedelta

from shared.foundation.core.clock import format_ts, to_us
from tests.support.events import event
from tests.support.looks import DAY

BEFORE, NOW = DAY.before.start, DAY.start
NOW_US, BEFORE_US = to_us(NOW), to_us(BEFORE)


def line(day: object, second: float, session_id: str, event_type: str, **fields: object) -> bytes:
    """Returns an event some seconds after the beginning of `NOW` or `BEFORE`."""
    assert day in (NOW, BEFORE)
    moment = (NOW if day == NOW else BEFORE) + timedelta(seconds=second)
    event = {"timestamp": format_ts(moment), "session_id": session_id, "type": event_type}
    return json.dumps(event | fields).encode()


def runs(agent: str, failed: int, good: int, **fields: object) -> list[bytes]:
    """Returns sessions that an agent began and ended."""
    return [
        line
        for n in range(failed + good)
        for line in (
            event(
                f"{agent}-{n}",
                f"{10 + n // 60}:{n % 60:02}:00",
                "agent_start",
                agent_id=agent,
                **fields,
            ),
            event(
                f"{agent}-{n}",
                f"{10 + n // 60}:{n % 60:02}:30",
                "agent_end",
                agent_id=agent,
                outcome="failed" if n < failed else "success",
                **fields,
            ),
        )
    ]


def results(tool: str, failed: int, good: int, **fields: object) -> list[bytes]:
    """Returns results of a tool, each in a separate session."""
    return [
        event(
            f"{tool.encode().hex()[:20]}-{n}",
            f"10:{n // 60:02}:{n % 60:02}",
            "tool_result",
            tool_name=tool,
            **({"error": "it broke"} if n < failed else {}),
            **fields,
        )
        for n in range(failed + good)
    ]
