"""Changes that every process sees at once, and the caches that notice them."""

from shared.cache.cache import GenerationCache
from shared.cache.epoch import at_once, current_generation, renew_generation

__all__ = ["GenerationCache", "at_once", "current_generation", "renew_generation"]
