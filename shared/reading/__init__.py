"""What is stored and asked for: events, sessions, results, queries, dashboards, exports."""
