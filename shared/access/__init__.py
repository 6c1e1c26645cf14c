"""Who may do what: organizations, people, keys, permissions, limits, and the log of it."""
