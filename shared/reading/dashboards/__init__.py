"""Dashboards and their tiles: a grid of charts over saved queries."""
