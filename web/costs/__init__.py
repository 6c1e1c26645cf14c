"""Routes of costs."""
