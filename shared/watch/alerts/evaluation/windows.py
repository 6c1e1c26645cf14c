"""The end of a rule's window. Pure."""

from datetime import datetime, timedelta

from shared.watch.alerts.evaluation.claims import ClaimedRule

# The smallest piece for a rule that is behind: a few evaluations make up for an hour.
_CATCH_UP_SECS = 600


def end_of(rule: ClaimedRule, stored_until: datetime) -> datetime:
    """Returns `stored_until`, the end of the stored events, or less for a per_event rule behind it.

    The windows of a per_event rule are contiguous. After an outage, one that reached to the present
    might contain more events than can be read, and the next one even more. So the rule reads
    pieces. After a piece that failed it takes a smaller one, of two intervals, which still catches
    up. What was before `begins_at` is left out.
    """
    if rule.trigger_kind != "per_event" or rule.evaluated_to is None:
        return stored_until
    least = 0 if rule.has_failed else _CATCH_UP_SECS
    secs = max(rule.trigger_spec["lookback_secs"], 2 * rule.eval_interval_secs, least)
    done = max(rule.evaluated_to, rule.begins_at or rule.evaluated_to)
    return min(stored_until, done + timedelta(seconds=secs))
