"""The root agent of a session: the agent of its first agent_start, else of its first event.

A session is a group of rows of `agent_sessions`, or of `events`. Agent ids are never empty, so an
empty one means that no agent_start was stored.
"""

from shared.foundation.clickhouse.event_columns import order_key_of

# For a group of rows of `agent_sessions`: (agent, environment) of the first event, and the agent of
# the first agent_start.
FIRST_EVENT = "argMinMerge(first_event)"
FIRST_STARTED = "argMinIfMerge(first_agent_start)"


def first_event(alias: str, *more: str) -> str:
    """Returns SQL of (agent, environment, `more`…) of the first event in a group."""
    values = (_text(alias, "agent_id"), _text(alias, "environment"), *more)
    return f"argMin(({', '.join(values)}), {order_key_of(alias)})"


def first_started(alias: str) -> str:
    """Returns SQL of the agent of the first agent_start in a group."""
    return (
        f"argMinIf({_text(alias, 'agent_id')}, {order_key_of(alias)},"
        f" {alias}.event_type = 'agent_start')"
    )


def root_agent(first: str = FIRST_EVENT, started: str = FIRST_STARTED) -> str:
    """Returns SQL of the root agent, from the results of the functions above."""
    return f"if({started} = '', {first}.1, {started})"


def _text(alias: str, column: str) -> str:
    # Not LowCardinality, for the reason that `shared.foundation.clickhouse.published` gives.
    return f"CAST({alias}.{column}, 'String')"
