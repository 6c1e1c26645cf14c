"""The filters by dimensions, as the filters of events, sessions and results declare them."""

from shared.foundation.clickhouse.filters import Filter, Filters
from shared.reading.dimensions.conditions import (
    MISSABLE,
    attributes_sql,
    effective,
    in_session,
    of_session,
    parse_attributes,
    parse_missing,
    present_sql,
    published_effective,
    seen_in_session,
)

ATTRIBUTES = Filter(
    "attr",
    "attributes",
    "`attr.<key>`: values of an attribute; `*`: it has any, `\\*`: a star; at most 8 attributes",
    label="Attribute",
    parse=parse_attributes,
)
MISSING = Filter(
    "missing",
    "list",
    "dimensions of which it has none: `user_id`, `agent_version`, `tag`, `attr.<key>`",
    label="Missing",
    parse=parse_missing,
    names=MISSABLE,
)
# Of an event: its own value, else that of its session.
EFFECTIVE = (
    Filter(
        "user_id",
        "any_of",
        "user, that of its session if it has none itself",
        effective("user_id"),
        published_effective("user_id"),
        label="User",
        narrowed=seen_in_session("user_id"),
    ),
    Filter(
        "agent_version",
        "any_of",
        "version of the agent, that of its session if it has none itself",
        effective("agent_version"),
        published_effective("agent_version"),
        label="Version",
        narrowed=seen_in_session("agent_version"),
    ),
)

_OF_EVENTS = "session_id IN (SELECT session_id FROM events WHERE {})"
_OF_TAGS = _OF_EVENTS.format("arrayExists(t -> {}, tags)")
# A parameter → its description, its label, and the condition over the view `events`.
_SEEN = {
    "user_id": ("user of any event", "User", _OF_EVENTS),
    "agent_version": ("version of the agent in any event", "Version", _OF_EVENTS),
    "tag": ("tag of any event", "Tag", _OF_TAGS),
}
_CALLED = {
    "model": ("model of any event", "Model", _OF_EVENTS),
    "provider": ("provider of any event", "", _OF_EVENTS),
}
# Of a session: the value of any of its events.
OF_SESSION = tuple(
    Filter(
        name,
        "any_of",
        about,
        of_session(name),
        published,
        "t" if name == "tag" else "",
        label=label,
    )
    for name, (about, label, published) in (_SEEN | _CALLED).items()
)
# The same of a result's session.
IN_SESSION = tuple(
    Filter(
        name,
        "any_of",
        about.replace("any event", "any event of the session"),
        in_session(name),
        published,
        "t" if name == "tag" else "",
        label=label,
    )
    for name, (about, label, published) in _SEEN.items()
)


def dimensions_sql(given: Filters) -> list[str]:
    """Returns the conditions of `attr` and `missing` on a session, over the views, in literals."""
    some, none = attributes_sql(given["attr"]), present_sql(given["missing"])
    return [
        *(_OF_EVENTS.format(one) for one in some),
        *(_OF_EVENTS.format(one).replace(" IN ", " NOT IN ", 1) for one in none),
    ]
