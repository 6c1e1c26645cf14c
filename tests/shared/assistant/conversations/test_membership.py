"""Conversations belong to a membership."""

import uuid

import pytest

from shared.assistant.conversations import service
from shared.foundation.core.errors import NotFound
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member
from tests.support.runtime import Org


@pytest.fixture
def runtime(postgres_and_redis_runtime: Runtime) -> Runtime:
    return postgres_and_redis_runtime


def test_a_person_who_was_removed_meanwhile_gets_none(runtime: Runtime, org: Org) -> None:
    stranger = uuid.uuid4()
    with (
        pytest.raises(NotFound, match="no such organization"),
        runtime.postgres.transaction() as session,
    ):
        service.create(session, org.uuid, stranger)
    member = add_member(runtime, org)
    with runtime.postgres.transaction() as session:
        made = service.create(session, org.uuid, member)
        assert str(made.id)
