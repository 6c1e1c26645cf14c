"""Rows of an organization as files: events, sessions and results of evaluations."""
