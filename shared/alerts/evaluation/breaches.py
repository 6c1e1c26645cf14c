"""Pure decisions about a rule and its incident, from the rule's last evaluations."""

from collections.abc import Sequence
from dataclasses import dataclass


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

    def fires(self, terms: Terms) -> bool:
        """Returns whether the last evaluation breached and enough of the others did.

        A clean evaluation never fires: otherwise an incident that people resolved would open again
        for breaches that are over.
        """
        return self.recent[-1] and sum(self.recent) >= terms.min_breaches

    def is_over(self, terms: Terms) -> bool:
        """Returns whether an incident that a breach opened now ends by itself."""
        return terms.auto_resolve and self.clean >= terms.eval_window
