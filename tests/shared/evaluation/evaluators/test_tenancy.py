"""Every statement about evaluators names the organization, and a list asks few of them."""

import re

import pytest

from shared.evaluation.evaluators import activity, pools, service, versions
from shared.evaluation.evaluators.secrets import set_secrets, usable_for
from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from tests.support.own_evaluators import URL, VERSIONS, new_evaluator
from tests.support.runtime import Org
from tests.support.statements import counted_statements

TABLES = "evaluator_(?:pools|workers|versions|secrets|months|runs)|evaluators"


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    """PostgreSQL is enough for these tests."""
    return postgres_runtime


def test_every_read_and_delete_names_the_organization(runtime: Runtime, org: Org) -> None:
    """Even after a row was found in the organization: later statements do not rely on that."""
    settings = runtime.settings
    with counted_statements(runtime) as seen, runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={}, secrets={"token": "t"})
        pulled = new_evaluator(session, settings, org, "pulled", "pull", version={})
        service.update(session, made, {"sample": 5})
        wanted = versions.parse_version("push", {**VERSIONS["push"], "version": "a"}, settings)
        versions.publish(session, made, wanted, "somebody")
        versions.activate(session, made, "1")
        versions.list_(session, made)
        service.list_(session, org.uuid, archived=False)
        usable_for(session, settings, made, URL)
        activity.health_of(session, settings, [made, pulled])
        activity.months_of(session, [made, pulled])
        pools.workers_of(session, org.uuid)
        [pool] = pools.list_(session, org.uuid)
        pools.renew_token(session, org.uuid, str(pool.id))
        with pytest.raises(Conflict):
            pools.delete(session, org.uuid, str(pool.id))
        service.archive(session, made)
    asked = 0
    for statement in seen:
        if statement.lstrip().startswith(("SELECT", "DELETE")):
            read = len(re.findall(rf"(?:FROM|JOIN) (?:{TABLES})\b", statement))
            named = len(re.findall(r"\borg_id = %\(", statement))
            assert named >= read, statement
            asked += read
    assert asked > 25


def test_many_evaluators_are_read_with_the_statements_of_one(runtime: Runtime, org: Org) -> None:
    counts = []
    for number in (1, 10):
        with runtime.postgres.transaction() as session:
            for one in range(number):
                new_evaluator(session, runtime.settings, org, f"key_{number}_{one}", version={})
        with counted_statements(runtime) as seen, runtime.postgres.transaction() as session:
            listed = service.list_(session, org.uuid, archived=False)
            assert len(versions.active_of(session, org.uuid, listed)) == len(listed)
            set_secrets(session, listed)
            activity.health_of(session, runtime.settings, listed)
            activity.months_of(session, listed)
        counts.append(len(seen))
    assert counts[0] == counts[1]
