"""Routes of evaluators, their secrets and their versions."""
