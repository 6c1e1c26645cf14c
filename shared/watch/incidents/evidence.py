"""The parts that the evidence of alerts and audits have in common."""

from typing import TypedDict

# The moments of the first event that could count and of the end of the window, RFC 3339.
EvidenceWindow = TypedDict("EvidenceWindow", {"from": str, "to": str})


class Comparison(TypedDict):
    """The number that was compared, and with which bound."""

    metric: str
    value: float | None
    op: str
    bound: float


# The names of these, by which an incident's history repeats them.
COMPARED = tuple(Comparison.__annotations__)


class ComparedFields(TypedDict, total=False):
    """The same in a history, where nothing is compared when a person reports a problem."""

    metric: str
    value: float | None
    op: str
    bound: float
