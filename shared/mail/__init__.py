"""Mail: an outbox that is written with what a mail is about, and sent by workers."""

from shared.mail.outbox import Letter, enqueue

__all__ = ["Letter", "enqueue"]
