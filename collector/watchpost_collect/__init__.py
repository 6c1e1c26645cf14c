"""Sends what AI agents leave on disk to Watchpost: event files, OTLP files and transcripts."""

__version__ = "0.1.0"
