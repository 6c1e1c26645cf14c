"""Evaluation results, read by the page."""
