"""Audit runs: queues the audits that are due, and executes them."""
