"""Routes of prices."""
