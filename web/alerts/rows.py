"""Rows of previews."""

from typing import Any

from shared.watch.alerts.evaluation.preview import Point, Preview
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated


def preview_row(made: Preview) -> dict[str, Any]:
    """Returns the row of `AlertPreview`."""
    return {
        "bounds": made.span,
        "op": made.limit and made.limit.op,
        "bound": made.limit and made.limit.bound,
        "points": [_point(point) for point in made.points],
        "incidents": made.incidents,
        "replayed": made.reason is None,
        "reason": made.reason,
    }


def _point(point: Point) -> dict[str, Any]:
    if isinstance(point.outcome, NotEvaluated):
        return {"ts": point.ts, "value": None, "breach": None}
    return {"ts": point.ts, "value": point.outcome.value, "breach": point.outcome.breached}
