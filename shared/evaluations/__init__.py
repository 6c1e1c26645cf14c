"""Evaluation results: what an evaluator said about a session, appended and read back."""
