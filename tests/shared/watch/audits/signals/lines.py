"""Lines of events of the audited day and of the day before."""

import json
from datetime import timedelta

from shared.foundation.core.clock import format_ts, to_us
from tests.support.looks import DAY

BEFORE, NOW = DAY.before.start, DAY.start
NOW_US, BEFORE_US = to_us(NOW), to_us(BEFORE)


def line(day: object, second: float, session_id: str, event_type: str, **fields: object) -> bytes:
    """Returns an event some seconds after the beginning of `NOW` or `BEFORE`."""
    assert day in (NOW, BEFORE)
    moment = (NOW if day == NOW else BEFORE) + timedelta(seconds=second)
    event = {"timestamp": format_ts(moment), "session_id": session_id, "type": event_type}
    return json.dumps(event | fields).encode()
