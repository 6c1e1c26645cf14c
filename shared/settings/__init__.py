"""Settings of an organization, which people change while the service runs."""

from shared.settings.catalogue import CATALOGUE, Setting, Value
from shared.settings.reading import default_of, value, values
from shared.settings.rules import lets_in
from shared.settings.service import Current, Editor, list_, replace

__all__ = [
    "CATALOGUE",
    "Current",
    "Editor",
    "Setting",
    "Value",
    "default_of",
    "lets_in",
    "list_",
    "replace",
    "value",
    "values",
]
