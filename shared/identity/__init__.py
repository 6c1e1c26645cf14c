"""Identities: who a request acts as, how that is found out, and how it is taken away."""

from shared.identity.authenticate import Authenticator
from shared.identity.bootstrap import bootstrap
from shared.identity.generation import renew_generation, revoking
from shared.identity.identity import Identity

__all__ = ["Authenticator", "Identity", "bootstrap", "renew_generation", "revoking"]
