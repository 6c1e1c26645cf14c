"""Notifications: who is told of an incident, over which channel, and what became of it."""
