"""Pure decisions about a rule and its incident, from the rule's last evaluations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Terms:
    """The conditions of firing: `min_breaches` of the last `eval_window` evaluations breached.

    With `auto_resolve` its incident ends after `eval_window` clean ones.
    """

    min_breaches: int
    eval_window: int
    auto_resolve: bool


@dataclass(frozen=True)
class History:
    """The last evaluations, oldest first, and the number of clean ones since a breach."""

    recent: Sequence[bool]
    clean: int

    def followed_by(self, breached: bool, terms: Terms) -> "History":
        """Returns the history after one more evaluation."""
        recent = (*self.recent, breached)[-terms.eval_window :]
        return History(recent, 0 if breached else self.clean + 1)

    def effect(self, terms: Terms, *, is_open: bool) -> Literal["breach", "end"] | None:
        """Returns what the last evaluation does to the rule's incident; `is_open`: there is one.

        A `breach` opens an incident or is folded into the open one. A clean evaluation never opens
        one: otherwise an incident that people resolved would open again for breaches that are over.
        An `end` is that of an incident that a breach opened.
        """
        breached = self.recent[-1]
        if breached and (is_open or sum(self.recent) >= terms.min_breaches):
            return "breach"
        if is_open and terms.auto_resolve and self.clean >= terms.eval_window:
            return "end"
        return None
