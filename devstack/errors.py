"""What can go wrong with the development stack, in words for the person who started it."""


class StackError(Exception):
    """The stack cannot be started or used; the message says why and what to do."""


class StackRunning(StackError):
    """Another process already runs a stack in the same directory."""
