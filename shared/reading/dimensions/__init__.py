"""Dimensions of sessions: users, versions of agents, tags and attributes."""
