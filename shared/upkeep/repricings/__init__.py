"""Repricings: the usage and the costs of stored calls, read and computed again."""
