"""Backups of a deployment, and exports of one organization: the same files, written and read."""
