"""Measures the web UI in Chromium."""
