"""Access: organizations, people, keys, permissions, limits, and the audit log."""
