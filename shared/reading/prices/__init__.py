"""Prices of models, and the cost of a call."""
