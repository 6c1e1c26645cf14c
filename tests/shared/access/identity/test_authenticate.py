"""Authentication: one round trip when cached, and never valid for too long."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from sqlalchemy import update

from devstack import DevStack
from shared.access.identity import Authenticator, Credential, loading
from shared.access.keys import service as keys
from shared.access.keys.models import ApiKey
from shared.access.keys.rules import hash_secret, new_secret
from shared.access.keys.service import NewKey
from shared.access.organizations import Organization
from shared.access.permissions import FOR_KEYS
from shared.foundation.cache import at_once, renew_epoch
from shared.foundation.cache import cache as cache_module
from shared.foundation.core.clock import now
from shared.foundation.core.errors import Forbidden, NotFound, Unauthorized, Unavailable
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org, connected, settings_for
from tests.support.statements import counted_statements


@pytest.fixture
def secret(runtime: Runtime, org: Org) -> str:
    """The secret of a fresh key of the test's organization."""
    secret = new_secret()
    with runtime.postgres.transaction() as session:
        wanted = NewKey(name="probe", secret=secret, permissions=["events:read"])
        keys.create(session, org.uuid, wanted, granter=FOR_KEYS)
    return secret


@pytest.fixture
def processes(migrated_stack: DevStack) -> Iterator[list[Authenticator]]:
    """Authenticators of two processes: separate connections and caches, the same stores."""
    settings = settings_for(migrated_stack.urls, database_pool_size=4)
    with connected(settings) as one, connected(settings) as two:
        yield [Authenticator(process) for process in (one, two)]


def key_id(runtime: Runtime, secret: str) -> str:
    """The id of a key."""
    authenticator = Authenticator(runtime)
    identity = authenticator.authenticate(Credential.of(secret.encode()))
    assert identity.key is not None
    return str(identity.key.id)


def test_a_cached_identity_asks_redis_once_and_postgres_never(
    runtime: Runtime, secret: str
) -> None:
    authenticator = Authenticator(runtime)
    first = authenticator.authenticate(Credential.of(secret.encode()))
    before = runtime.redis.info("commandstats")
    with counted_statements(runtime) as statements:
        for _ in range(10):
            assert authenticator.authenticate(Credential.of(secret.encode())) is first
    assert statements == []
    after = runtime.redis.info("commandstats")
    asked = {
        name: stats["calls"] - before.get(name, {"calls": 0})["calls"]
        for name, stats in after.items()
        if name != "cmdstat_info"
    }
    assert {name: calls for name, calls in asked.items() if calls} == {"cmdstat_get": 10}


def revoke(runtime: Runtime, org: Org, found: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        keys.disable(session, org.uuid, found)


def renew(runtime: Runtime, org: Org, found: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        keys.regenerate(session, org.uuid, found, granter=FOR_KEYS)


def delete_organization(runtime: Runtime, org: Org, _found: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        deleted = update(Organization).where(Organization.id == org.uuid)
        session.execute(deleted.values(deleted_at=datetime.now(UTC)))


@pytest.mark.parametrize("take_away", [revoke, renew, delete_organization])
def test_a_removed_permission_is_gone_in_every_process(
    runtime: Runtime,
    org: Org,
    secret: str,
    processes: list[Authenticator],
    take_away: Callable[[Runtime, Org, str], None],
) -> None:
    for process in processes:
        process.authenticate(Credential.of(secret.encode()))
    take_away(runtime, org, key_id(runtime, secret))
    for process in processes:
        with pytest.raises(Unauthorized):
            process.authenticate(Credential.of(secret.encode()))


def test_revoking_holds_while_everybody_keeps_asking(
    runtime: Runtime, org: Org, secret: str, processes: list[Authenticator]
) -> None:
    """No request after the answer succeeds, however many were in progress before."""
    found = key_id(runtime, secret)
    revoked = threading.Event()
    stop = threading.Event()
    accepted_late: list[float] = []

    def keep_asking(process: Authenticator) -> None:
        while not stop.is_set():
            late = revoked.is_set()
            try:
                process.authenticate(Credential.of(secret.encode()))
            except Unauthorized:
                continue
            if late:
                accepted_late.append(time.monotonic())

    threads = [threading.Thread(target=keep_asking, args=(process,)) for process in processes * 2]
    for thread in threads:
        thread.start()
    # Every thread has asked many times by then; one that has not only makes the test easier.
    time.sleep(0.2)
    revoke(runtime, org, found)
    revoked.set()
    # Nothing may come of the requests after this, so there is no event to wait for.
    time.sleep(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert accepted_late == []


def test_an_identity_read_before_the_commit_is_not_used_after_it(
    runtime: Runtime, org: Org, secret: str, processes: list[Authenticator]
) -> None:
    """It was cached between the first renewal and the commit. The second renewal undoes that."""
    found, process = key_id(runtime, secret), processes[0]
    with at_once(runtime.postgres, runtime.redis) as session:
        keys.disable(session, org.uuid, found)
        process.authenticate(Credential.of(secret.encode()))
        process.authenticate(Credential.of(secret.encode()))
    with pytest.raises(Unauthorized):
        process.authenticate(Credential.of(secret.encode()))


def test_nothing_is_revoked_while_redis_is_away(
    runtime: Runtime, org: Org, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = key_id(runtime, secret)

    def away(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    with monkeypatch.context() as patched:
        patched.setattr(runtime.redis, "set", away)
        with pytest.raises(Unavailable):
            revoke(runtime, org, found)
    assert key_id(runtime, secret) == found


def test_without_redis_every_request_asks_postgres(
    runtime: Runtime, migrated_stack: DevStack, secret: str
) -> None:
    nowhere = settings_for(migrated_stack.urls, redis_url="redis://127.0.0.1:1/0")
    with connected(nowhere) as cut_off:
        authenticator = Authenticator(replace(runtime, redis=cut_off.redis))
        for _ in range(2):
            with counted_statements(runtime) as statements:
                authenticator.authenticate(Credential.of(secret.encode()))
            # The first use of a minute is noted, too.
            assert len([one for one in statements if one.startswith("SELECT")]) == 1


def test_a_lost_generation_is_created_again(runtime: Runtime, secret: str) -> None:
    authenticator = Authenticator(runtime)
    authenticator.authenticate(Credential.of(secret.encode()))
    runtime.redis.delete("auth:generation")
    authenticator.authenticate(Credential.of(secret.encode()))
    with counted_statements(runtime) as statements:
        authenticator.authenticate(Credential.of(secret.encode()))
    assert statements == []


def test_entries_end_by_themselves(
    runtime: Runtime, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "LIFETIME_SECS", 0.0)
    authenticator = Authenticator(runtime)
    authenticator.authenticate(Credential.of(secret.encode()))
    with counted_statements(runtime) as statements:
        authenticator.authenticate(Credential.of(secret.encode()))
    assert len(statements) == 1


def test_a_cached_identity_still_expires(
    runtime: Runtime, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticator = Authenticator(runtime)
    expires_at = now() + timedelta(hours=1)
    with runtime.postgres.transaction() as session:
        soon = update(ApiKey).where(ApiKey.key_hash == hash_secret(secret.encode()))
        session.execute(soon.values(expires_at=expires_at))
    authenticator.authenticate(Credential.of(secret.encode()))
    monkeypatch.setattr(loading, "now", lambda: expires_at)
    with counted_statements(runtime) as statements, pytest.raises(Unauthorized):
        authenticator.authenticate(Credential.of(secret.encode()))
    assert statements == []


def test_refusals_are_not_cached(runtime: Runtime, org: Org) -> None:
    """A key and an organization are usable from the moment they are created."""
    authenticator = Authenticator(runtime)
    secret = new_secret()
    with pytest.raises(Unauthorized):
        authenticator.authenticate(Credential.of(secret.encode()))
    with runtime.postgres.transaction() as session:
        keys.create(session, org.uuid, NewKey("new", secret), granter=FOR_KEYS)
    assert authenticator.authenticate(Credential.of(secret.encode())).org_id == org.id
    with pytest.raises(Forbidden):
        authenticator.authenticate(Credential.of(secret.encode(), "another"))


def test_instance_keys_do_not_reach_deleted_organizations(
    runtime: Runtime, org: Org, secret: str
) -> None:
    with runtime.postgres.transaction() as session:
        of_the_instance = update(ApiKey).where(ApiKey.key_hash == hash_secret(secret.encode()))
        session.execute(of_the_instance.values(org_id=None, name=f"instance-{org.slug}"))
    renew_epoch(runtime.redis)
    authenticator = Authenticator(runtime)
    assert authenticator.authenticate(Credential.of(secret.encode(), org.slug)).org_id == org.id
    assert authenticator.authenticate(Credential.of(secret.encode())).org_slug == "default"
    delete_organization(runtime, org, "")
    with pytest.raises(NotFound):
        authenticator.authenticate(Credential.of(secret.encode(), org.slug))
