"""The initial keys and the initial member of a deployment."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, select

from devstack import DevStack, StackUrls
from shared.access.identity import Authenticator, Credential, bootstrap
from shared.access.identity.models import FirstMember
from shared.access.keys import service as keys
from shared.access.keys.models import ApiKey
from shared.access.keys.service import NewKey
from shared.access.organizations import Organization
from shared.access.permissions import FOR_KEYS
from shared.access.users import operator
from shared.access.users.models import Membership, User
from shared.foundation.core.errors import ConfigurationError, Unauthorized
from shared.foundation.deployment.runtime import Runtime
from tests.support.databases import empty_databases
from tests.support.runtime import connected, migrated, settings_for

FIRST, SECOND = "first-secret-of-tests", "second-secret-of-tests"

Start = Callable[..., None]


@pytest.fixture(scope="module")
def urls(stack: DevStack) -> Iterator[StackUrls]:
    """Migrated databases in which no other test bootstraps."""
    with empty_databases(stack.urls) as made:
        migrated(settings_for(made))
        yield made


@pytest.fixture
def deployment(urls: StackUrls) -> Iterator[Runtime]:
    """Connections to a deployment that has never started."""
    with connected(settings_for(urls)) as runtime:
        with runtime.postgres.transaction() as session:
            session.execute(delete(ApiKey))
            session.execute(delete(User))
            session.execute(delete(FirstMember))
        yield runtime


@pytest.fixture
def start(urls: StackUrls) -> Start:
    """`start(admin_key=…)` does the web tier's work at start-up."""

    def run(**variables: str | None) -> None:
        with connected(settings_for(urls, **variables)) as runtime:
            bootstrap(runtime)

    return run


def instance_keys(runtime: Runtime) -> dict[str, ApiKey]:
    """The keys of the instance by name."""
    with runtime.postgres.transaction() as session:
        return {
            key.name: key for key in session.scalars(select(ApiKey).where(ApiKey.org_id.is_(None)))
        }


def name_of(runtime: Runtime, secret: str) -> str | None:
    """Returns the name of the key with a secret, by an authenticator with an empty cache."""
    try:
        return Authenticator(runtime).authenticate(Credential.of(secret.encode())).name
    except Unauthorized:
        return None


def test_both_keys_are_protected_and_of_the_instance(deployment: Runtime, start: Start) -> None:
    start(admin_key=FIRST, agent_api_key=SECOND)
    made = instance_keys(deployment)
    assert made.keys() == {"admin", "dashboard-assistant"}
    assert all(key.is_protected and key.expires_at is None for key in made.values())
    assert (name_of(deployment, FIRST), name_of(deployment, SECOND)) == (
        "admin",
        "dashboard-assistant",
    )
    assert FIRST.encode() not in made["admin"].key_hash


def test_another_start_changes_nothing(deployment: Runtime, start: Start) -> None:
    start(admin_key=FIRST)
    epoch = deployment.redis.get("auth:generation")
    start(admin_key=FIRST)
    assert deployment.redis.get("auth:generation") == epoch


def test_a_rotated_secret_replaces_the_old_one_at_once(deployment: Runtime, start: Start) -> None:
    start(admin_key=FIRST)
    before = instance_keys(deployment)["admin"]
    running = Authenticator(deployment)
    running.authenticate(Credential.of(FIRST.encode()))
    start(admin_key=SECOND)
    with pytest.raises(Unauthorized):
        running.authenticate(Credential.of(FIRST.encode()))
    assert name_of(deployment, SECOND) == "admin"
    assert instance_keys(deployment)["admin"].id == before.id


def test_an_unset_variable_revokes_and_a_set_one_brings_back(
    deployment: Runtime, start: Start
) -> None:
    start(admin_key=FIRST)
    start()
    assert name_of(deployment, FIRST) is None
    start(admin_key=FIRST)
    assert name_of(deployment, FIRST) == "admin"


def test_secrets_may_be_swapped(deployment: Runtime, start: Start) -> None:
    start(admin_key=FIRST, agent_api_key=SECOND)
    start(admin_key=SECOND, agent_api_key=FIRST)
    assert name_of(deployment, FIRST) == "dashboard-assistant"
    assert name_of(deployment, SECOND) == "admin"


def test_permissions_are_brought_up_to_date(deployment: Runtime, start: Start) -> None:
    start(admin_key=FIRST)
    with deployment.postgres.transaction() as session:
        session.scalars(select(ApiKey)).one().permissions = ["events:add"]
    start(admin_key=FIRST)
    assert set(instance_keys(deployment)["admin"].permissions) == FOR_KEYS


def test_many_processes_may_start_at_once(deployment: Runtime, start: Start) -> None:
    with ThreadPoolExecutor(8) as pool:
        started = [
            pool.submit(start, admin_key=FIRST, agent_api_key=SECOND, admin_email="ada@example.org")
            for _ in range(8)
        ]
    for process in started:
        process.result()
    assert len(instance_keys(deployment)) == 2


def test_secrets_that_are_taken_stop_the_start(deployment: Runtime, start: Start) -> None:
    with pytest.raises(ConfigurationError, match="ADMIN_KEY and AGENT_API_KEY must differ"):
        start(admin_key=FIRST, agent_api_key=FIRST)
    with deployment.postgres.transaction() as session:
        default = session.scalars(select(Organization)).one()
        keys.create(session, default.id, NewKey("theirs", SECOND), granter=FOR_KEYS)
    with pytest.raises(ConfigurationError, match="AGENT_API_KEY is the secret of another key"):
        start(admin_key=FIRST, agent_api_key=SECOND)
    assert instance_keys(deployment) == {}


def test_the_first_member_is_added_once(deployment: Runtime, start: Start) -> None:
    start(admin_email="Ada@Example.org")
    with deployment.postgres.transaction() as session:
        member = session.scalars(select(Membership)).one()
        assert (member.permission_set, member.is_protected) == ("admin", True)
        member.permission_set = "standard"
    start(admin_email="ada@example.org")
    with deployment.postgres.transaction() as session:
        assert session.scalars(select(User.email)).all() == ["ada@example.org"]
        assert session.scalars(select(Membership)).one().permission_set == "standard"


def test_a_first_member_that_was_removed_stays_removed(deployment: Runtime, start: Start) -> None:
    start(admin_email="ada@example.org")
    with deployment.postgres.transaction() as session:
        default = session.scalars(select(Organization)).one()
        operator.remove(session, default.id, "ada@example.org")
    start(admin_email="Ada@example.org")
    with deployment.postgres.transaction() as session:
        assert session.scalars(select(User.email)).all() == []
    start(admin_email="bob@example.org")
    with deployment.postgres.transaction() as session:
        assert session.scalars(select(User.email)).all() == ["bob@example.org"]


@pytest.mark.parametrize("address", ["ada", "ada@", "@example.org", "a da@example.org"])
def test_an_address_that_is_none_stops_the_start(
    deployment: Runtime, start: Start, address: str
) -> None:
    with pytest.raises(ConfigurationError, match="ADMIN_EMAIL"):
        start(admin_email=address)
