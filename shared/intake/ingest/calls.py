"""The usage and the cost of the calls among events."""

import msgspec
from msgspec import UNSET, Raw, UnsetType

from shared.intake.ingest import usage
from shared.intake.ingest.fields import Fields, is_error, unusable_in
from shared.reading.events.families import MODEL, TOOL
from shared.reading.prices.book import PriceBook
from shared.reading.prices.cost import CallCost, CallUsage, cost_of, reported_of
from shared.reading.prices.names import tier_of

# The fields with counts, which `CallUsage` has under the same names.
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
# The types of events that may be calls.
ENDS = frozenset({MODEL.end, TOOL.end})
NO_COST = CallCost()
_NOT_REPORTED: tuple[int | None, bool] = (None, True)

_decode = msgspec.json.Decoder(int | float | str).decode


def is_call(event_type: str, fields: Fields) -> bool:
    """Returns whether an event may be a call: of a model, or of a tool that reports a cost."""
    return event_type == MODEL.end or (event_type == TOOL.end and fields.cost_usd is not UNSET)


def usage_of(event_type: str, fields: Fields, ts: int) -> CallUsage:
    """Returns what a call at `ts` (microseconds since the epoch) used.

    Fills its fields from the provider's own usage first.
    """
    is_usable = fields.usage is UNSET or usage.complete(fields)
    if is_usable and (unusable := unusable_in(fields)):
        is_usable = unusable.isdisjoint(COUNTS)
    reported, is_reported_usable = _NOT_REPORTED
    if fields.cost_usd is not UNSET:
        reported, is_reported_usable = reported_of(
            _value(fields.cost_usd), _value(fields.cost_currency)
        )
    # By place: names would take twice as long.
    return CallUsage(
        fields.model,
        fields.provider,
        None if fields.service_tier is None else tier_of(fields.service_tier),
        ts,
        fields.input_tokens,
        fields.output_tokens,
        fields.cache_read_tokens,
        fields.cache_write_tokens,
        fields.cache_write_1h_tokens,
        fields.audio_input_tokens,
        fields.audio_output_tokens,
        fields.reasoning_tokens,
        fields.web_searches,
        reported,
        is_reported_usable,
        is_error(event_type, fields),
        is_usable,
    )


def cost_in(book: PriceBook, event_type: str, fields: Fields, ts: int) -> CallCost:
    """Returns what a call costs. A tool's call costs what it reports, and nothing else."""
    used = usage_of(event_type, fields, ts)
    if event_type != MODEL.end and used.reported is None:
        return NO_COST
    return cost_of(used, book.price_of(used.model, used.provider, used.service_tier, ts))


def _value(raw: Raw | UnsetType) -> object:
    """Returns a number or a text, None for anything else; a number keeps its digits."""
    if raw is UNSET:
        return None
    data = bytes(raw)
    if data[:1] == b'"' or data[:1] in (b"t", b"f", b"n", b"[", b"{"):
        try:
            return _decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
    return data.decode()
