"""Replaces what an organization does not want to have stored."""
