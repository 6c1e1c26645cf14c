"""The turns of sessions."""
