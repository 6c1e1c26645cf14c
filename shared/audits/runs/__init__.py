"""Queueing audits that are due, and carrying out their runs."""
