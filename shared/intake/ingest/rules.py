"""The rules of an organization for its events, cached by each process."""

import uuid
from collections.abc import Collection, Mapping
from functools import partial
from typing import NamedTuple

from shared.access.settings.reading import values
from shared.foundation.cache import EpochCache, current_epoch
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest.dimensions import DimensionRules
from shared.reading.dimensions.attribute_keys import AttributeKeys
from shared.reading.model_windows.builtin import WindowOf, builtin_window
from shared.reading.model_windows.service import overrides_of, window_lookup
from shared.reading.prices.book import PriceBook, builtin_book
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.service import prices_of

_REDACTED_KEYS = "redaction.payload_keys"
_ATTRIBUTE_KEYS = "dimensions.attribute_keys"


class IngestRules(NamedTuple):
    """The context windows of models, the rules of dimensions, and the prices of calls."""

    window_of: WindowOf = builtin_window
    dimensions: DimensionRules = DimensionRules()
    prices: PriceBook = builtin_book(builtin_prices(None))


class IngestRulesCache:
    """A lookup of the rules for a block of events.

    If it is called after the events were read, it sees every change that was answered before they
    were sent: see `shared.foundation.cache`. A cached answer costs one round trip to Redis.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._remembered: EpochCache[str, IngestRules] = EpochCache()
        self._keys = AttributeKeys(runtime.redis)

    def __call__(self, org_ids: Collection[str]) -> Mapping[str, IngestRules]:
        """Returns the rules of each of these organizations.

        Raises `Unavailable` if PostgreSQL is needed and down.
        """
        epoch = current_epoch(self._runtime.redis)
        return self._remembered.get_many(org_ids, epoch, self._load)

    def _load(self, org_ids: Collection[str]) -> Mapping[str, IngestRules]:
        config, ids = self._runtime.settings, [uuid.UUID(org_id) for org_id in org_ids]
        with self._runtime.postgres.transaction() as session:
            windows = overrides_of(session, ids)
            redacted = values(session, config, ids, _REDACTED_KEYS)
            paths = values(session, config, ids, _ATTRIBUTE_KEYS)
            prices = prices_of(session, ids, builtin_prices(config.model_prices_file))
        return {
            str(org_id): IngestRules(
                window_lookup(windows[org_id]),
                DimensionRules(
                    _lower(redacted[org_id]),
                    tuple(_texts(paths[org_id])),
                    partial(self._keys.refused, str(org_id)),
                ),
                prices[org_id],
            )
            for org_id in ids
        }


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _lower(value: object) -> frozenset[str]:
    return frozenset(item.lower() for item in _texts(value))
