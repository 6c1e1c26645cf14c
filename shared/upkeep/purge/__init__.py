"""The removal of an organization from all three stores, for good."""
