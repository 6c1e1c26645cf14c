"""Reads of stored data: events, sessions, results, queries, dashboards, exports."""
