"""The messages of notifications; both only say "look".

They have a queue, and so threads, of their own: a receiver that hangs delays nothing else.
"""

from shared.queue import Task

SEND_NOTIFICATIONS = Task(actor="send_notifications", queue="notifications")
TIDY_NOTIFICATIONS = Task(actor="tidy_notifications", queue="notifications")
