"""The messages of deliveries, which only tell workers to look.

They have their own queue, and so their own threads: a receiver that hangs delays nothing else.
"""

from shared.queue import Task

SEND_NOTIFICATIONS = Task(actor="send_notifications", queue="notifications")
TIDY_NOTIFICATIONS = Task(actor="tidy_notifications", queue="notifications")
