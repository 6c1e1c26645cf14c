"""The state of a session's evaluation: the reason why it has a score, or none so far."""
