"""SQL that people write: checked by a guard, run as a read-only user, saved by name."""
