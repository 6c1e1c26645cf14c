"""Removes what an organization does not want to keep any longer."""
