"""Routes of findings."""
