"""Changes that hold at once in every process, and caches that notice them."""

from shared.cache.cache import GenerationCache
from shared.cache.epoch import at_once, current_generation, renew_generation

__all__ = ["GenerationCache", "at_once", "current_generation", "renew_generation"]
