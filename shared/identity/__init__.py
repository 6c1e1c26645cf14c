"""Identities: who a request acts as, and how that is found out."""

from shared.identity.authenticate import Authenticator
from shared.identity.bootstrap import bootstrap
from shared.identity.credential import Credential
from shared.identity.identity import Identity, KeyRef, UserRef
from shared.identity.person import Person

__all__ = ["Authenticator", "Credential", "Identity", "KeyRef", "Person", "UserRef", "bootstrap"]
