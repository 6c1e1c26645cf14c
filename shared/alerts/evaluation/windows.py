"""Where the window of a rule ends. Pure."""

from datetime import datetime, timedelta

from shared.alerts.evaluation.claims import Claimed

# What a rule that is behind looks at together at least: a few evaluations make up for an hour.
_CATCH_UP_SECS = 600


def end_of(rule: Claimed, stored_until: datetime) -> datetime:
    """`stored_until`, up to which events are stored, or less for a per_event rule that is behind.

    Its windows join, and after an outage one that reached to the present might be more than can be
    read, and at the next evaluation even more. So it looks at pieces. Of one that failed it takes a
    smaller piece, of two intervals, which catches up as well.
    """
    if rule.trigger_kind != "per_event" or rule.evaluated_to is None:
        return stored_until
    least = 0 if rule.has_failed else _CATCH_UP_SECS
    secs = max(rule.trigger_spec["lookback_secs"], 2 * rule.eval_interval_secs, least)
    return min(stored_until, rule.evaluated_to + timedelta(seconds=secs))
