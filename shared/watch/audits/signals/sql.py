"""The conditions of a look, written with literals for evidence queries.

People run these statements again through POST /queries/run, so nothing in them is bound. An audit
may have a hundred environments, agents and error types of 256 characters.
"""

from shared.foundation.clickhouse.literals import is_one_of, moment
from shared.watch.audits.signals.interface import Look, Window


def within(window: Window, column: str = "ts") -> str:
    """Returns the condition that a column of time lies in a window."""
    return f"{column} >= {moment(window.start)} AND {column} < {moment(window.stop)}"


def where(look: Look, window: Window | None = None, *, column: str = "ts") -> str:
    """Returns the conditions of `Look.where` in literals; the views add the organization."""
    return " AND ".join((within(look.window if window is None else window, column), *scope(look)))


def scope(look: Look) -> list[str]:
    """Returns the conditions of a look's scope in literals; none if it admits all."""
    conditions = []
    if look.environments:
        conditions.append(is_one_of("environment", look.environments))
    if look.agent_ids:
        conditions.append(is_one_of("agent_id", look.agent_ids))
    return conditions
