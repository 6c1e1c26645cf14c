"""Mail: an outbox that is written together with the change, and sent by workers."""

from shared.mail import quota
from shared.mail.outbox import Letter, enqueue

__all__ = ["Letter", "enqueue", "quota"]
