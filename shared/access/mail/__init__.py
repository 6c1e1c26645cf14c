"""Mail: an outbox that is written together with the change, and sent by workers."""

from shared.access.mail import quota
from shared.access.mail.outbox import Letter, enqueue
from shared.access.mail.quota import enqueue_within_quota

__all__ = ["Letter", "enqueue", "enqueue_within_quota", "quota"]
