"""From a credential to an identity; see `shared.cache` for why the cache is never stale."""

from dataclasses import replace

from shared.cache import GenerationCache, current_generation
from shared.deployment.runtime import Runtime
from shared.identity.credential import Credential
from shared.identity.identity import Identity
from shared.identity.loading import load_identity, load_person, require_unexpired
from shared.identity.person import Person


class Authenticator:
    """Authenticates the requests of one process.

    What is cached costs one round trip to Redis and nothing of PostgreSQL; while Redis is away
    every request asks PostgreSQL. Both methods raise `Unavailable` while PostgreSQL is needed and
    away.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._identities: GenerationCache[Credential, Identity] = GenerationCache()
        self._people: GenerationCache[Credential, Person] = GenerationCache()

    def authenticate(self, credential: Credential) -> Identity:
        """Who the request acts as, for one organization.

        Raises `Unauthorized` for a secret that is unknown, revoked, expired or of a deleted
        organization, `NotFound` when an instance-scoped key names no organization there is,
        `Forbidden` when anybody else names one that is not theirs or an actor is no member,
        `Invalid` when a person of several organizations names none.
        """
        generation = current_generation(self._runtime.redis)
        identity = self._identities.get(
            credential, generation, lambda: self._load_identity(credential, generation)
        )
        require_unexpired(identity.expires_at)
        return identity

    def person(self, credential: Credential) -> Person:
        """Who is signed in, whatever the organization; raises `Unauthorized` for nobody."""
        person = self._people.get(
            credential,
            current_generation(self._runtime.redis),
            lambda: self._load_person(credential),
        )
        require_unexpired(person.expires_at)
        return person

    def _load_identity(self, credential: Credential, generation: bytes | None) -> Identity:
        with self._runtime.postgres.transaction() as session:
            identity = load_identity(session, self._runtime.settings, credential)
        return replace(identity, generation=generation)

    def _load_person(self, credential: Credential) -> Person:
        with self._runtime.postgres.transaction() as session:
            return load_person(session, self._runtime.settings, credential)
