"""Notifications over HTTP: the client, the allowed addresses, and the dispatcher."""
