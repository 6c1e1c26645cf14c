"""Decides which session and agent a record belongs to, and turns it into events."""
