"""Routes of incidents."""
