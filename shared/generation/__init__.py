"""Changes that hold at once in every process, and caches that notice them."""

from shared.generation.cache import GenerationCache
from shared.generation.generation import at_once, current_generation, renew_generation

__all__ = ["GenerationCache", "at_once", "current_generation", "renew_generation"]
