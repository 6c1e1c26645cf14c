"""Announces the levels that the spending of a budget reaches."""
