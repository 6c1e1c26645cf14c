"""Evaluation results, page by page."""
