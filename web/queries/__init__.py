"""Routes of SQL: run statements, save queries, list the tables."""
