"""The values of an incident's own rule around the time when it breached."""

from datetime import timedelta

from shared.foundation.core.clock import now
from shared.watch.alerts.evaluation.preview import (
    MAX_SPAN,
    Preview,
    PreviewSpan,
    RuleDraft,
    preview,
)
from shared.watch.alerts.evaluation.triggers.interface import RuleContext
from shared.watch.alerts.groups import value_in
from shared.watch.alerts.models import Alert
from shared.watch.incidents.models import Incident

BEFORE, AFTER = timedelta(hours=6), timedelta(hours=1)
# A rule that is evaluated once a day has values in between, too.
_MOST_SECS_A_POINT = 300


def values_around(
    context: RuleContext, incident: Incident, alert: Alert | None, *, schema: str
) -> Preview:
    """Replays the rule from before the incident opened until after its last breach.

    Without a rule, or for a statement, which nobody runs for a reader, there are no points and the
    reason. Raises the errors of `preview`.
    """
    ends = (incident.resolved_at or incident.last_breach_at) + AFTER
    ts_to = min(ends, now())
    ts_from = max(incident.opened_at - BEFORE, ts_to - MAX_SPAN)
    if alert is None or alert.trigger_kind == "custom_sql":
        reason = "no alert opened this incident" if alert is None else "SQL names its own window"
        return Preview(PreviewSpan(ts_from, ts_to, _MOST_SECS_A_POINT), None, [], [], reason)
    draft = RuleDraft(
        alert.trigger_kind,
        alert.trigger_spec,
        alert.min_breaches,
        alert.eval_window,
        min(alert.eval_interval_secs, _MOST_SECS_A_POINT),
        ts_from,
        ts_to,
    )
    only = None if incident.group is None else value_in(incident.group)
    return preview(context, draft, schema=schema, only=only)
