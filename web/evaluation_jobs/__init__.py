"""Evaluations that are not done yet, and asking for one."""
