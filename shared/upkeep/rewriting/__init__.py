"""Reads stored events in the order of their keys, and writes copies with other values."""
