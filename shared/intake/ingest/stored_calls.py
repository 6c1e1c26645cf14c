"""The usage and the cost of a stored call, read from its payload as ingest reads it."""

from operator import attrgetter

from shared.foundation.clickhouse.event_columns import CALL_COLUMNS, COST_NAMES, USAGE_NAMES
from shared.intake.ingest import usage
from shared.intake.ingest.calls import cost_in, is_call
from shared.intake.ingest.fields import Fields, read_fields
from shared.intake.ingest.rows import fill_of
from shared.reading.prices.book import PriceBook
from shared.reading.prices.names import tier_of

_counts = attrgetter("input_tokens", "output_tokens", *(column.field for column in CALL_COLUMNS))
_costs = attrgetter(
    "cost", "reported", "computed", "source", "unpriced_reason", "price_id", "notes"
)
# The columns of `values_of`, in its order.
CALL_VALUES = (*USAGE_NAMES, *COST_NAMES)
COST_PLACE = CALL_VALUES.index("cost_usd")
SOURCE_PLACE = CALL_VALUES.index("cost_source")


def values_of(
    book: PriceBook, event_type: str, payload: bytes, ts: int, window: int | None
) -> tuple[object, ...] | None:
    """Returns the values of `CALL_VALUES`, costs in 1e-12 dollars; None if the event is no call.

    `window` is the stored context window, and stays.
    """
    fields: Fields = read_fields(payload)
    if not is_call(event_type, fields):
        return None
    # It fills the fields from the provider's own object, and therefore comes first.
    cost = cost_in(book, event_type, fields, ts)
    return (
        *_counts(fields),
        usage.provider_of(fields.provider),
        tier_of(fields.service_tier),
        window and fill_of(fields, window),
        *_costs(cost),
    )
