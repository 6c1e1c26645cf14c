"""Limits: how much a key and an organization may send, counted in Redis for all processes."""
