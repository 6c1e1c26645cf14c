"""Evaluators to copy and change."""
