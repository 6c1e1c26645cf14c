"""Routes of dashboards and their tiles."""
