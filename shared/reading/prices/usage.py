"""The usage of a call, from the fields of its event."""

from collections.abc import Mapping

from shared.reading.prices.cost import CallUsage, reported_of
from shared.reading.prices.names import tier_of

MAX_COUNT = 2**32 - 1
# The fields with counts.
COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "audio_input_tokens",
    "audio_output_tokens",
    "reasoning_tokens",
    "web_searches",
)
_NO_ERROR = (None, False, "")


def usage_of(fields: Mapping[str, object], ts: int) -> CallUsage:
    """Returns the usage that the decoded fields of an event name; `ts` is its moment.

    A count of another JSON type is none. One that is negative, a fraction or above 2³² - 1 makes
    the usage unusable.
    """
    counts = {name: _count(fields.get(name)) for name in COUNTS}
    reported, is_reported_usable = reported_of(fields.get("cost_usd"), fields.get("cost_currency"))
    return CallUsage(
        model=_text(fields.get("model")) or _text(fields.get("model_name")),
        provider=_text(fields.get("provider")),
        service_tier=tier_of(fields.get("service_tier")),
        ts=ts,
        reported=reported,
        is_reported_usable=is_reported_usable,
        is_error=fields.get("error") not in _NO_ERROR,
        is_usable=all(one is None or one >= 0 for one in counts.values()),
        **counts,
    )


def _count(value: object) -> int | None:
    """Returns a count, None for no number, and -1 for one that is no count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MAX_COUNT and value == int(value) else -1


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
