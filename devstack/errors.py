"""Errors of the development stack, worded for the person who started it."""


class StackError(Exception):
    """The stack cannot be started or used. The message says why and what to do."""


class StackRunning(StackError):
    """Another process already runs a stack in the same directory."""
