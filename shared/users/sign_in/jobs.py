"""The message of sign-in, which only tells a worker to look."""

from shared.queue import Task

TIDY_SIGN_IN = Task(actor="tidy_sign_in", queue="background")
