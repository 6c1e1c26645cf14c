"""Evaluation jobs: the sessions that are due for the evaluator, and the state of each call."""
