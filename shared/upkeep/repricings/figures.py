"""What a repricing changes, in numbers that add up exactly: amounts are 1e-12 dollars."""

from collections.abc import Iterable
from typing import Any

import msgspec

from shared.reading.prices.cost import dollars

MAX_MODELS = 100
# Models of a run whose figures are kept apart.
_KEPT_MODELS = 2_000


class ModelFigures(msgspec.Struct):
    """The figures of the calls of a model, None for calls without one."""

    model: str | None
    calls: int = 0
    changed: int = 0
    before: int = 0
    after: int = 0


class RepricingFigures(msgspec.Struct):
    """The figures of a run; `changed` counts the calls whose amounts or whose source differ."""

    calls: int = 0
    changed: int = 0
    newly_priced: int = 0
    no_longer_priced: int = 0
    before: int = 0
    after: int = 0
    by_model: list[ModelFigures] = []

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "RepricingFigures":
        """Returns the figures of a row."""
        return msgspec.convert(stored, cls)

    def stored(self) -> dict[str, Any]:
        """Returns the figures as a row keeps them."""
        kept: dict[str, Any] = msgspec.to_builtins(self)
        return kept

    def plus(self, calls: Iterable["RepricedCall"]) -> "RepricingFigures":
        """Returns the figures with those of more calls."""
        models = {one.model: msgspec.structs.replace(one) for one in self.by_model}
        sums = msgspec.structs.replace(self)
        for call in calls:
            before, after = call.before or 0, call.after or 0
            sums.calls += 1
            sums.changed += call.is_changed
            sums.newly_priced += call.before is None and call.after is not None
            sums.no_longer_priced += call.before is not None and call.after is None
            sums.before += before
            sums.after += after
            model = models.get(call.model)
            if model is None:
                if len(models) >= _KEPT_MODELS:
                    continue
                model = models[call.model] = ModelFigures(call.model)
            model.calls += 1
            model.changed += call.is_changed
            model.before += before
            model.after += after
        sums.by_model = list(models.values())
        return sums

    def result(self) -> dict[str, Any]:
        """Returns the result of a run, the models that cost most first."""
        dearest = sorted(
            self.by_model,
            key=lambda one: (-max(one.before, one.after), -one.calls, one.model or ""),
        )
        return {
            "calls": self.calls,
            "changed": self.changed,
            "newly_priced": self.newly_priced,
            "no_longer_priced": self.no_longer_priced,
            "before_usd": dollars(self.before),
            "after_usd": dollars(self.after),
            "difference_usd": dollars(self.after - self.before),
            "by_model": [
                {
                    "model": one.model,
                    "calls": one.calls,
                    "changed": one.changed,
                    "before_usd": dollars(one.before),
                    "after_usd": dollars(one.after),
                }
                for one in dearest[:MAX_MODELS]
            ],
        }


class RepricedCall(msgspec.Struct, gc=False):
    """A call with its cost before and after, None for a call without one."""

    model: str | None
    before: int | None
    after: int | None
    is_changed: bool
