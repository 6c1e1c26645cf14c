"""Sending notifications over HTTP: the client, which addresses it reaches, and the dispatcher."""
