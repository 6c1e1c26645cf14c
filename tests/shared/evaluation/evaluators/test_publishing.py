"""Versions: published once under a name, never changed, one of them active."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.evaluation.evaluators import limits, service, versions
from shared.evaluation.evaluators.models import EvaluatorVersion
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from tests.support.own_evaluators import URL, VERSIONS, new_evaluator
from tests.support.runtime import Org

KEY = "refund_policy"


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    """PostgreSQL is enough for these tests."""
    return postgres_runtime


def publish(runtime: Runtime, org: Org, **fields: Any) -> tuple[EvaluatorVersion, bool]:
    with runtime.postgres.transaction() as session:
        evaluator = service.changeable(session, org.uuid, KEY)
        wanted = versions.parse_version("push", {**VERSIONS["push"], **fields}, runtime.settings)
        return versions.publish(session, evaluator, wanted, "somebody")


def active(runtime: Runtime, org: Org) -> str | None:
    with runtime.postgres.transaction() as session:
        evaluator = service.get(session, org.uuid, KEY)
        found = versions.active_of(session, org.uuid, [evaluator])
        return next((one.version for one in found.values()), None)


@pytest.fixture(autouse=True)
def evaluator(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        new_evaluator(session, runtime.settings, org)


def test_a_version_without_a_name_gets_the_next_number(runtime: Runtime, org: Org) -> None:
    names = [publish(runtime, org)[0].version for _ in range(2)]
    assert names == ["1", "2"]
    assert publish(runtime, org, version="4")[0].number == 3
    assert publish(runtime, org)[0].version == "5"
    assert active(runtime, org) == "5"
    with runtime.postgres.transaction() as session:
        listed = versions.list_(session, service.get(session, org.uuid, KEY))
        assert [one.version for one in listed] == ["5", "4", "2", "1"]


def test_the_same_again_is_the_same_version(runtime: Runtime, org: Org) -> None:
    first, is_new = publish(runtime, org, version="a", note="first")
    assert is_new
    again, is_new = publish(runtime, org, version="a", note="again", activate=False)
    assert (again.id, again.note, is_new) == (first.id, "first", False)
    for other in ({"spec": {"url": f"{URL}/other"}}, {"large": "error"}):
        with pytest.raises(Conflict) as refused:
            publish(runtime, org, version="a", **other)
        assert refused.value.code == "version_exists"
    publish(runtime, org, version="b")
    publish(runtime, org, version="a", activate=False)
    assert active(runtime, org) == "b"
    publish(runtime, org, version="a")
    assert active(runtime, org) == "a"


def test_a_version_is_activated_and_taken_back(runtime: Runtime, org: Org) -> None:
    publish(runtime, org, version="a")
    publish(runtime, org, version="b", activate=False)
    assert active(runtime, org) == "a"
    for name in ("b", None, "a"):
        with runtime.postgres.transaction() as session:
            versions.activate(session, service.changeable(session, org.uuid, KEY), name)
        assert active(runtime, org) == name
    for bad in ("c", "", "a\0", 1, ["a"]):
        with runtime.postgres.transaction() as session:
            evaluator = service.changeable(session, org.uuid, KEY)
            with pytest.raises(Invalid) as refused:
                versions.activate(session, evaluator, bad)
            assert list(refused.value.fields) == ["version"]


def test_a_version_of_another_evaluator_is_not_found(runtime: Runtime, org: Org) -> None:
    publish(runtime, org, version="a")
    with runtime.postgres.transaction() as session:
        other = new_evaluator(session, runtime.settings, org, "other")
        for name in ("a", "b", "", "a\0", "x" * 200):
            with pytest.raises(NotFound):
                versions.get(session, other, name)
        with pytest.raises(Invalid):
            versions.activate(session, other, "a")
        assert versions.get(session, service.get(session, org.uuid, KEY), "a").version == "a"


def test_many_at_once_get_numbers_of_their_own(runtime: Runtime, org: Org) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: publish(runtime, org, note=str(n)), range(8)))
        same = list(pool.map(lambda _: publish(runtime, org, version="same"), range(4)))
    assert sorted(one.number for one, _ in made) == list(range(1, 9))
    assert len({one.id for one, _ in same}) == 1
    assert [is_new for _, is_new in same].count(True) == 1


def test_limits_of_versions(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_VERSIONS", 1)
    publish(runtime, org, version="a")
    with pytest.raises(Conflict) as refused:
        publish(runtime, org, version="b")
    assert refused.value.code == "limit"
    assert not publish(runtime, org, version="a")[1]
