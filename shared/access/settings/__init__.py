"""Settings of an organization, which people change while the service runs."""
