"""Changes that every process sees at once, and the caches that notice them."""

from shared.foundation.cache.cache import EpochCache
from shared.foundation.cache.epoch import at_once, current_epoch, renew_epoch

__all__ = ["EpochCache", "at_once", "current_epoch", "renew_epoch"]
