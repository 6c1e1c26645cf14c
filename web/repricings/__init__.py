"""Routes of repricings."""
