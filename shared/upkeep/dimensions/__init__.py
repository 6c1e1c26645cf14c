"""Fills the dimensions of events that were stored before there were any."""
