"""Conditions on sessions: checked, decided in ClickHouse, and put into words."""
