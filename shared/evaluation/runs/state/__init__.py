"""The states of a session for own evaluators: the reason why each has a result, or none so far."""
