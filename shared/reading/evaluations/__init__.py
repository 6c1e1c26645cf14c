"""Evaluation results: the scores that an evaluator gave to sessions."""
