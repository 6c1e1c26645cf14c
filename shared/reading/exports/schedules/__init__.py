"""Exports that repeat: a file for each hour or day, in a folder or a bucket of the operator."""
