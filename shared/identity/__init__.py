"""Identities: the key or person that a request acts as, and the authentication."""

from shared.identity.authenticate import Authenticator
from shared.identity.bootstrap import bootstrap
from shared.identity.credential import Credential
from shared.identity.identity import Identity, KeyRef, UserRef
from shared.identity.person import Person

__all__ = ["Authenticator", "Credential", "Identity", "KeyRef", "Person", "UserRef", "bootstrap"]
