"""The details of the entries of an incident's history, by their kind."""

from collections.abc import Mapping
from typing import TypedDict

from shared.watch.incidents.evidence import ComparedFields
from shared.watch.incidents.opening import Source


class BreachDetail(ComparedFields):
    """A breach in a sentence, with the numbers if any were compared."""

    summary: str


class OpenedDetail(BreachDetail):
    """The breach that opened the incident, and who noticed it."""

    source: Source


class BreachedDetail(BreachDetail):
    """The last of consecutive breaches, their number, and the time of the first one."""

    count: int
    since: str


class AssignedDetail(TypedDict):
    """The assignees from then on, and those until then."""

    assignees: list[str]
    before: list[str]


class CommentDetail(TypedDict):
    """The comment that was made or deleted."""

    comment_id: str


class SubscriptionDetail(TypedDict):
    """The address that gets mail, or no longer."""

    email: str


class NoDetail(TypedDict):
    """Nothing: the kind says it all."""


# One row for each kind.
DETAILS: Mapping[str, type] = {
    "opened": OpenedDetail,
    "acknowledged": NoDetail,
    "assigned": AssignedDetail,
    "commented": CommentDetail,
    "comment_deleted": CommentDetail,
    "subscribed": SubscriptionDetail,
    "unsubscribed": SubscriptionDetail,
    "breached": BreachedDetail,
    "resolved": NoDetail,
}
Detail = OpenedDetail | BreachedDetail | AssignedDetail | CommentDetail | SubscriptionDetail
