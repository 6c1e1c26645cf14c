"""Turns a credential into an identity.

`shared.foundation.cache` explains why the cache is never stale.
"""

from contextlib import suppress
from dataclasses import replace

from shared.access.identity.credential import Credential
from shared.access.identity.identity import Identity
from shared.access.identity.loading import load_identity, load_person, require_unexpired
from shared.access.identity.person import Person
from shared.foundation.cache import EpochCache, current_epoch, renew_epoch
from shared.foundation.core.errors import Unavailable
from shared.foundation.deployment.runtime import Runtime


class Authenticator:
    """The authentication of the requests of one process.

    A cached identity costs one round trip to Redis and none to PostgreSQL. While Redis is down
    every request reads PostgreSQL. Both methods raise `Unavailable` if PostgreSQL is needed and
    down.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._identities: EpochCache[Credential, Identity] = EpochCache()
        self._people: EpochCache[Credential, Person] = EpochCache()

    def authenticate(self, credential: Credential) -> Identity:
        """Returns the identity that the request acts as, in one organization.

        Raises `Unauthorized` for a secret that is unknown, revoked, expired or of a deleted
        organization, `NotFound` if a key of the instance names an organization that does not exist,
        `Forbidden` if another credential names an organization that is not its own or if an actor
        is not a member, and `Invalid` if a person of several organizations names none.
        """
        epoch = current_epoch(self._runtime.redis)
        identity = self._identities.get(
            credential, epoch, lambda: self._load_identity(credential, epoch)
        )
        require_unexpired(identity.expires_at)
        return identity

    def person(self, credential: Credential) -> Person:
        """Returns the signed-in person, whatever the organization.

        Raises `Unauthorized` if there is none.
        """
        person = self._people.get(
            credential,
            current_epoch(self._runtime.redis),
            lambda: self._load_person(credential),
        )
        require_unexpired(person.expires_at)
        return person

    def _load_identity(self, credential: Credential, epoch: bytes | None) -> Identity:
        with self._runtime.postgres.transaction() as session:
            identity = load_identity(session, self._runtime.settings, credential)
        if identity.joined:
            # From now on, requests of this person that name no organization are ambiguous.
            with suppress(Unavailable):
                renew_epoch(self._runtime.redis)
        return replace(identity, epoch=epoch)

    def _load_person(self, credential: Credential) -> Person:
        with self._runtime.postgres.transaction() as session:
            return load_person(session, self._runtime.settings, credential)
