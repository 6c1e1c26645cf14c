"""What an organization used, counted by billing window."""
