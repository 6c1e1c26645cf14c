"""Routes of dimensions."""
