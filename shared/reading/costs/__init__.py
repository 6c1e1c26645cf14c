"""Sums of what calls cost: by dimensions and over time, of a session, and of one call."""
