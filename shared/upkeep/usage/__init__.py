"""The usage of an organization, counted by billing window."""
