"""SQL that people write: guarded, run as a read-only user, saved under a name."""
