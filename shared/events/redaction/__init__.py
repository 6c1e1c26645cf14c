"""What an organization never wants stored, taken out of its events before anything keeps them."""

from shared.events.redaction.redactions import Redactions
from shared.events.redaction.rules import Redactor

__all__ = ["Redactions", "Redactor"]
