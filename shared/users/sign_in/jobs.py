"""The message of sign-in; it only says "look"."""

from shared.queue import Task

TIDY_SIGN_IN = Task(actor="tidy_sign_in", queue="background")
