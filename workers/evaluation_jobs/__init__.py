"""Calls of the evaluator: the HTTP client, and the loop that works through due jobs."""
