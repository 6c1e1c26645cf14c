"""Evaluation jobs: which sessions are due for the evaluator, and where each call stands."""
