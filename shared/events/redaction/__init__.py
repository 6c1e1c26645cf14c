"""The redaction of values that an organization never wants to store."""

from shared.events.redaction.redactions import Redactions
from shared.events.redaction.rules import Redactor

__all__ = ["Redactions", "Redactor"]
