"""SQL of the values at key paths; the paths themselves are bound, never inserted into the text."""

from shared.foundation.clickhouse.event_columns import PAYLOAD_COLUMNS
from shared.foundation.clickhouse.where import Where

COLUMNS = frozenset(
    {"session_id", "agent_id", "environment", "event_type", *(one.name for one in PAYLOAD_COLUMNS)}
)


def value_of(path: str, where: Where) -> str:
    """Returns SQL of the text at `path`, a column or a path into the payload; '' if there is none.

    The name of a column means that column. Strings are used unchanged, other values as their JSON
    text. Bound values are added to the parameters of `where`.
    """
    if path in COLUMNS:
        return f"ifNull(toString({path}), '')"
    steps = []
    for step in path.split("."):
        # Named by its value, so that ClickHouse sees two uses of a path as one expression.
        name = _name(step, where)
        where.params[name] = step
        steps.append(f"{{{name}:String}}")
    return f"ifNull(JSONExtract(payload, {', '.join(steps)}, 'Nullable(String)'), '')"


def first_of(paths: tuple[str, ...], where: Where, max_bytes: int) -> tuple[str, str]:
    """Returns SQL of the index (1, 2, …) of the first path with a value, and of that value.

    Values of more than `max_bytes` bytes count as missing. Without any value the index is one past
    the last, with ''.
    """
    places, values = [], []
    for place, path in enumerate(paths, 1):
        value = value_of(path, where)
        holds = f"length({value}) BETWEEN 1 AND {max_bytes:d}"
        places.append(f"{holds}, {place:d}")
        values.append(f"{holds}, {value}")
    return (
        f"multiIf({', '.join(places)}, {len(paths) + 1:d})",
        f"multiIf({', '.join(values)}, '')",
    )


def _name(step: str, where: Where) -> str:
    known = [name for name, value in where.params.items() if name.startswith("step_")]
    return next((name for name in known if where.params[name] == step), f"step_{len(known)}")
