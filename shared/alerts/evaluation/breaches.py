"""Pure decisions from the last evaluations of a rule: does it fire, does its incident end?"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """When a rule fires: `min_breaches` of the last `eval_window` evaluations breached.

    `auto_resolve`: its incident ends after `eval_window` clean ones.
    """

    min_breaches: int
    eval_window: int
    auto_resolve: bool


@dataclass(frozen=True)
class History:
    """Whether the last evaluations breached, oldest first, and how many came since one that did."""

    recent: Sequence[bool]
    clean: int

    def followed_by(self, breached: bool, terms: Terms) -> "History":
        """The history after one more evaluation."""
        recent = (*self.recent, breached)[-terms.eval_window :]
        return History(recent, 0 if breached else self.clean + 1)

    def fires(self, terms: Terms) -> bool:
        """Whether the last evaluation breached and is one of enough.

        One that was clean never fires: an incident that people resolved would open again for what
        was over before.
        """
        return self.recent[-1] and sum(self.recent) >= terms.min_breaches

    def is_over(self, terms: Terms) -> bool:
        """Whether an incident that a breach opened ends by itself now."""
        return terms.auto_resolve and self.clean >= terms.eval_window
