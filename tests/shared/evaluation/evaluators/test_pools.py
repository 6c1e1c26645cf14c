"""Pools of workers: their tokens, and when one can be deleted."""

import pytest
from sqlalchemy.orm import Session

from shared.evaluation.evaluators import limits, pools, service
from shared.evaluation.evaluators.models import EvaluatorPool
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from tests.support.own_evaluators import new_evaluator, new_pool
from tests.support.runtime import Org, make_org


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    """PostgreSQL is enough for these tests."""
    return postgres_runtime


def create(session: Session, org: Org, name: str = "workers") -> tuple[EvaluatorPool, str]:
    return pools.create(session, org.uuid, name, "somebody", may_define=False)


def test_a_token_is_kept_as_its_hash_and_a_new_one_ends_it(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        made, token = create(session, org)
        assert token.startswith("wpw_")
        assert len(token) >= 4 + 43
        assert made.token_hash == pools.hash_token(token)
        again, renewed = pools.renew_token(session, org.uuid, str(made.id))
        assert again is made
        assert renewed != token
        assert made.token_hash == pools.hash_token(renewed)


def test_pools_are_listed_by_name(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        for name in ("b", "a"):
            create(session, org, name)
        assert [one.name for one in pools.list_(session, org.uuid)] == ["a", "b"]
        with pytest.raises(Conflict) as refused:
            create(session, org, " a ")
        assert refused.value.code == "pool_exists"


def test_a_pool_in_use_stays(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        pool_id = str(new_pool(session, org))
        made = new_evaluator(session, runtime.settings, org, kind="pull", pool=pool_id)
        with pytest.raises(Conflict) as refused:
            pools.delete(session, org.uuid, pool_id)
        assert refused.value.code == "pool_in_use"
        service.archive(session, made)
        pools.delete(session, org.uuid, pool_id)
        assert pools.list_(session, org.uuid) == []


def test_a_foreign_pool_is_not_found(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        foreign = str(new_pool(session, make_org(runtime)))
        for pool_id in (foreign, "nothing", "00000000-0000-4000-8000-00000000ffff"):
            with pytest.raises(NotFound):
                pools.delete(session, org.uuid, pool_id)
            with pytest.raises(NotFound):
                pools.renew_token(session, org.uuid, pool_id)
        assert pools.list_(session, org.uuid) == []


@pytest.mark.parametrize("name", ["", " ", "n" * 129, "a\nb"])
def test_names_of_pools(runtime: Runtime, org: Org, name: str) -> None:
    with runtime.postgres.transaction() as session:
        with pytest.raises(Invalid) as refused:
            create(session, org, name)
        assert list(refused.value.fields) == ["name"]


def test_limits_of_pools(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_POOLS", 1)
    with runtime.postgres.transaction() as session:
        create(session, org)
        with pytest.raises(Conflict) as refused:
            create(session, org, "other")
        assert refused.value.code == "limit"
