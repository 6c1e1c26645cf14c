"""Faults at random, for five minutes."""
