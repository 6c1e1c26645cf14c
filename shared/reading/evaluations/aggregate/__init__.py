"""Aggregates of results: totals, scores by key, and charts over time."""
