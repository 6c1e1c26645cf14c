"""Evaluators from their creation to their end: what is kept, and which code a refusal has."""

from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.access.audit_log.models import AuditLine
from shared.evaluation.evaluation_jobs.run_models import EvaluatorRun
from shared.evaluation.evaluators import limits, service, versions
from shared.evaluation.evaluators.models import Evaluator, EvaluatorVersion
from shared.evaluation.evaluators.secrets import set_secrets
from shared.foundation.core.clock import now
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.foundation.deployment.runtime import Runtime
from tests.support.own_evaluators import VERSIONS, new_evaluator, new_pool
from tests.support.runtime import Org, make_org


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    """PostgreSQL is enough for these tests."""
    return postgres_runtime


def lines(session: Session, org: Org) -> list[AuditLine]:
    rows = select(AuditLine).where(AuditLine.org_id == org.uuid).order_by(AuditLine.at)
    return list(session.scalars(rows))


def run_of(evaluator: Evaluator, status: str) -> EvaluatorRun:
    moment = now()
    return EvaluatorRun(
        org_id=evaluator.org_id,
        session_id=f"session-{status}",
        agent_id="main",
        environment="production",
        status=status,
        trigger="agent_end",
        request_id="0" * 32,
        enqueued_at=moment,
        next_attempt_at=moment,
        evaluator_id=evaluator.id,
        version_id=evaluator.active_version_id,
        revision=1,
        covered_events=1,
        covered_until=moment,
        rank=1,
    )


def test_an_evaluator_has_its_defaults_and_its_first_version(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, runtime.settings, org, version={"version": "a"})
        assert (made.name, made.sample_seed, int(made.sample)) == ("refund_policy", made.key, 100)
        assert made.enabled_since == made.created_at
        assert made.created_by == "somebody"
        [version] = versions.list_(session, made)
        assert made.active_version_id == version.id
        assert [line.action for line in lines(session, org)] == [
            "evaluator.create",
            "evaluator_version.publish",
            "evaluator_version.activate",
        ]
        silent = new_evaluator(session, runtime.settings, org, "silent", enabled=False)
        assert (silent.active_version_id, silent.enabled_since) == (None, None)


@pytest.mark.parametrize("kind", ["push", "pull", "sql", "judge"])
def test_each_kind_can_be_created(runtime: Runtime, org: Org, kind: str) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, runtime.settings, org, kind=kind, version={})
        assert made.active_version_id is not None
        assert (made.pool_id is not None) == (kind == "pull")
        listed = service.list_(session, org.uuid, archived=False)
        assert [one.key for one in listed] == [made.key]
        assert service.get(session, org.uuid, made.key) is made


@pytest.mark.parametrize("key", ["default", "otlp"])
def test_built_in_evaluators_cannot_be_written(runtime: Runtime, org: Org, key: str) -> None:
    with runtime.postgres.transaction() as session:
        with pytest.raises(Conflict) as refused:
            new_evaluator(session, runtime.settings, org, key)
        assert refused.value.code == "builtin_evaluator"
        with pytest.raises(Conflict) as refused:
            service.changeable(session, org.uuid, key)
        assert refused.value.code == "builtin_evaluator"


def test_a_key_is_taken_until_its_evaluator_comes_back(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(
            session, runtime.settings, org, version={}, secrets={"token": "t"}, priority=9
        )
        with pytest.raises(Conflict) as refused:
            new_evaluator(session, runtime.settings, org)
        assert refused.value.code == "evaluator_exists"
        service.archive(session, made)
        assert service.list_(session, org.uuid, archived=False) == []
        assert service.list_(session, org.uuid, archived=True) == [made]
        assert service.get(session, org.uuid, made.key).archived_at is not None
        with pytest.raises(NotFound):
            service.changeable(session, org.uuid, made.key)
        with pytest.raises(Conflict) as refused:
            new_evaluator(session, runtime.settings, org, kind="sql")
        assert refused.value.code == "evaluator_exists"
        again = new_evaluator(session, runtime.settings, org)
        assert (again.id, again.archived_at, again.priority) == (made.id, None, 5)
        assert again.active_version_id is None
        assert again.enabled_since is not None
        assert set_secrets(session, [again])[again.id] == (False, False, [])
        wanted = versions.parse_version("push", VERSIONS["push"], runtime.settings)
        version, is_new = versions.publish(session, again, wanted, "somebody")
        assert (version.number, version.version, is_new) == (2, "2", True)


def test_deletion_ends_queued_runs_and_keeps_the_rest(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, runtime.settings, org, version={})
        other = new_evaluator(session, runtime.settings, org, "other", version={})
        session.add_all([run_of(made, "pending"), run_of(other, "pending")])
        session.add_all([run_of(made, status) for status in ("polling", "storing", "done")])
        session.flush()
        service.archive(session, made)
        left = session.execute(
            select(EvaluatorRun.evaluator_id, EvaluatorRun.status).where(
                EvaluatorRun.org_id == org.uuid
            )
        )
        assert sorted((row[0] == made.id, row[1]) for row in left) == [
            (False, "pending"),
            (True, "done"),
            (True, "storing"),
        ]
        assert len(versions.list_(session, made)) == 1
        assert lines(session, org)[-1].action == "evaluator.delete"


@pytest.mark.parametrize("given", [{"key": "other"}, {"kind": "sql"}])
def test_key_and_kind_never_change(runtime: Runtime, org: Org, given: dict[str, Any]) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, runtime.settings, org)
        with pytest.raises(Conflict) as refused:
            service.update(session, made, given)
        assert refused.value.code == "immutable"
        service.update(session, made, {"key": made.key, "kind": made.kind})


def test_a_change_keeps_what_it_does_not_name(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        key = "k" * 128
        made = new_evaluator(session, runtime.settings, org, key, priority=7, idle_secs=60)
        since = made.enabled_since
        # The seed is longer than one that can be written, and may be sent back.
        service.update(session, made, {"idle_secs": None, "sample": 12.5, "sample_seed": key})
        assert (made.priority, made.idle_secs, float(made.sample)) == (7, None, 12.5)
        assert made.enabled_since == since
        service.update(session, made, {"enabled": False})
        assert (made.enabled, made.enabled_since) == (False, None)
        service.update(session, made, {"enabled": True})
        assert made.enabled_since is not None
        last = lines(session, org)[-1]
        assert (last.action, last.before, last.after) == (
            "evaluator.update",
            {"enabled": False},
            {"enabled": True},
        )


def test_a_pool_is_for_pull_alone_and_has_to_be_there(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        pool, foreign = new_pool(session, org), new_pool(session, make_org(runtime))
        for kind, value in (("push", str(pool)), ("pull", str(foreign)), ("pull", None)):
            with pytest.raises(Invalid) as refused:
                new_evaluator(session, runtime.settings, org, kind=kind, pool=value)
            assert list(refused.value.fields) == ["pool"]
        made = new_evaluator(session, runtime.settings, org, kind="pull", pool=str(pool))
        for value in (None, str(foreign)):
            with pytest.raises(Invalid):
                service.update(session, made, {"pool": value})
        service.update(session, made, {"pool": str(new_pool(session, org, "other"))})


def test_limits_of_evaluators(runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ENABLED", 2)
    monkeypatch.setattr(limits, "MAX_EVALUATORS", 3)
    with runtime.postgres.transaction() as session:
        first = new_evaluator(session, runtime.settings, org, "a")
        new_evaluator(session, runtime.settings, org, "b")
        with pytest.raises(Conflict, match="at most 2 enabled") as refused:
            new_evaluator(session, runtime.settings, org, "c")
        assert refused.value.code == "limit"
        third = new_evaluator(session, runtime.settings, org, "c", enabled=False)
        with pytest.raises(Conflict, match="at most 2 enabled"):
            service.update(session, third, {"enabled": True})
        with pytest.raises(Conflict, match="at most 3 evaluators") as refused:
            new_evaluator(session, runtime.settings, org, "d", enabled=False)
        assert refused.value.code == "limit"
        service.archive(session, first)
        service.update(session, third, {"enabled": True})
        new_evaluator(session, runtime.settings, org, "d", enabled=False)


def test_a_refused_creation_leaves_nothing(runtime: Runtime, org: Org) -> None:
    bad: list[dict[str, Any]] = [
        {"version": {"spec": {"url": "ftp://x"}}},
        {"version": {"results": [{"key": "a"}]}},
        {"version": {}, "secrets": {"api_key": "a"}},
        {"secrets": {"token": "t"}},
        {"version": {"activate": False}, "secrets": {"token": "t"}},
        {"sample": 101},
    ]
    for given in bad:
        with pytest.raises((Invalid, Conflict)), runtime.postgres.transaction() as session:
            new_evaluator(session, runtime.settings, org, **given)
    with runtime.postgres.transaction() as session:
        for table in (Evaluator, EvaluatorVersion, AuditLine):
            count = select(func.count()).where(table.org_id == org.uuid)
            assert session.scalar(count) == 0
