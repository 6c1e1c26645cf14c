"""Settings of an organization, which people change while the service runs."""

from shared.settings.catalogue import CATALOGUE, Setting, Value
from shared.settings.reading import default_of, value, values

__all__ = ["CATALOGUE", "Setting", "Value", "default_of", "value", "values"]
