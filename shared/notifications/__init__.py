"""Notifications: an incident's channels are told of it, and rows say what became of each delivery."""
