"""Identities: the key or person that a request acts as, and the authentication."""

from shared.access.identity.authenticate import Authenticator
from shared.access.identity.bootstrap import bootstrap
from shared.access.identity.credential import Credential
from shared.access.identity.identity import Identity, KeyRef, UserRef
from shared.access.identity.person import Person

__all__ = ["Authenticator", "Credential", "Identity", "KeyRef", "Person", "UserRef", "bootstrap"]
