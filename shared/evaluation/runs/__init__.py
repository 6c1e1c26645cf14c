"""Runs of an organization's own evaluators, from their triggers to their results."""
