"""Rows of previews."""

from collections.abc import Sequence
from typing import Any

from shared.watch.alerts import groups
from shared.watch.alerts.evaluation.preview import Preview
from shared.watch.alerts.evaluation.replaying import Point, ReplayedIncident
from shared.watch.alerts.evaluation.triggers.interface import NotEvaluated


def preview_row(made: Preview) -> dict[str, Any]:
    """Returns the row of `AlertPreview`."""
    found = made.groups
    by = made.group_by or ""
    return {
        **_replay(made, made.points, made.incidents),
        "groups": found
        and [
            {"group": groups.named(by, value), **_replay(made, *replay)}
            for value, replay in found.items()
        ],
    }


def _replay(
    made: Preview, points: Sequence[Point], incidents: Sequence[ReplayedIncident]
) -> dict[str, Any]:
    return {
        "bounds": made.span,
        "op": made.limit and made.limit.op,
        "bound": made.limit and made.limit.bound,
        "points": [_point(point) for point in points],
        "incidents": incidents,
        "replayed": made.reason is None,
        "reason": made.reason,
    }


def _point(point: Point) -> dict[str, Any]:
    if isinstance(point.outcome, NotEvaluated):
        return {"ts": point.ts, "value": None, "breach": None}
    return {"ts": point.ts, "value": point.outcome.value, "breach": point.outcome.breached}
