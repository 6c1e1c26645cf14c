"""API keys: credentials with permissions, of one organization or of the whole instance."""

from shared.keys.models import ApiKey
from shared.keys.rules import hash_secret, new_secret
from shared.keys.service import NewKey, change, create, disable, list_, regenerate

__all__ = [
    "ApiKey",
    "NewKey",
    "change",
    "create",
    "disable",
    "hash_secret",
    "list_",
    "new_secret",
    "regenerate",
]
