"""Routes of SQL: run, saved, and what can be asked."""
