"""Dashboards and the tiles on them: a grid of charts over saved queries."""
