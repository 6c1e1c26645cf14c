"""Secrets: sealed in the table, shown to nobody, and sent to one origin alone."""

from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from shared.evaluation.evaluators import service, versions
from shared.evaluation.evaluators.models import Evaluator, EvaluatorSecret
from shared.evaluation.evaluators.secrets import (
    change_secrets,
    parse_secrets,
    set_secrets,
    usable_for,
)
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Invalid
from shared.foundation.deployment.runtime import Runtime
from tests.support.own_evaluators import VERSIONS, new_evaluator
from tests.support.runtime import Org

ORIGIN, OTHER = "https://evaluators.example.com", "https://others.example.com"
CANARY = "hush-7b1f"


@pytest.fixture(scope="session")
def runtime(postgres_runtime: Runtime) -> Runtime:
    """PostgreSQL is enough for these tests."""
    return postgres_runtime


@pytest.fixture
def settings(runtime: Runtime) -> Settings:
    return replace(runtime.settings, secrets_key="a key of the tests, long enough")


def change(session: Session, settings: Settings, evaluator: Evaluator, **given: Any) -> None:
    origin = service.active_origin(session, evaluator)
    changes = parse_secrets(evaluator.kind, given)
    change_secrets(session, settings, evaluator, origin, changes)


def test_secrets_are_set_and_removed(runtime: Runtime, org: Org, settings: Settings) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={}, secrets={"token": "first"})
        change(session, settings, made, headers={"X-Team": "a", "X-Env": "b"}, api_key=None)
        assert set_secrets(session, [made])[made.id] == (True, False, ["X-Env", "X-Team"])
        change(session, settings, made, token="second", headers={"x-team": "c", "X-Env": None})
        assert set_secrets(session, [made])[made.id] == (True, False, ["x-team"])
        assert usable_for(session, settings, made, ORIGIN) == ("second", None, {"x-team": "c"})
        change(session, settings, made, token=None)
        assert usable_for(session, settings, made, ORIGIN).token is None


def test_a_secret_goes_to_the_origin_alone_for_which_it_was_set(
    runtime: Runtime, org: Org, settings: Settings
) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={}, secrets={"token": CANARY})
        for path in (f"{ORIGIN}/other/path", f"{OTHER}/base"):
            value = {**VERSIONS["push"], "spec": {"url": path}}
            wanted = versions.parse_version("push", value, settings)
            versions.publish(session, made, wanted, "somebody")
            origin = service.active_origin(session, made)
            assert origin is not None
            expected = CANARY if origin == ORIGIN else None
            assert usable_for(session, settings, made, origin).token == expected
        change(session, settings, made, headers={"X-Key": "k"})
        assert usable_for(session, settings, made, OTHER) == (None, None, {"X-Key": "k"})
        assert usable_for(session, settings, made, ORIGIN) == (CANARY, None, {})


def test_the_origin_of_a_stored_secret_cannot_be_changed(
    runtime: Runtime, org: Org, settings: Settings
) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={}, secrets={"token": CANARY})
        [row] = session.scalars(select(EvaluatorSecret).where(EvaluatorSecret.org_id == org.uuid))
        row.origin = OTHER
        session.flush()
        assert usable_for(session, settings, made, OTHER).token is None


def test_the_table_holds_no_secret_in_clear(runtime: Runtime, org: Org, settings: Settings) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={}, secrets={"token": CANARY})
        rows = session.execute(
            text("SELECT t::text FROM evaluator_secrets AS t WHERE org_id = :org_id"),
            {"org_id": org.uuid},
        )
        [(stored,)] = rows
        assert CANARY not in stored
        assert CANARY.encode().hex() not in stored
        other = replace(settings, secrets_key="another key of the tests")
        assert usable_for(session, other, made, ORIGIN).token is None


def test_without_a_key_a_secret_is_in_clear_and_usable(runtime: Runtime, org: Org) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, runtime.settings, org, version={}, secrets={"token": CANARY})
        [row] = session.scalars(select(EvaluatorSecret).where(EvaluatorSecret.org_id == org.uuid))
        assert CANARY.encode() in row.sealed
        found = usable_for(session, runtime.settings, made, ORIGIN)
        assert found.token == CANARY
        assert CANARY not in repr(found)


def test_a_secret_needs_a_version_with_an_address(
    runtime: Runtime, org: Org, settings: Settings
) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org)
        with pytest.raises(Conflict) as refused:
            change(session, settings, made, token=CANARY)
        assert refused.value.code == "no_version"
        change(session, settings, made, token=None)


@pytest.mark.parametrize(
    ("kind", "value", "field"),
    [
        ("push", [], ""),
        ("push", {"api_key": "a"}, "api_key"),
        ("judge", {"token": "a"}, "token"),
        ("judge", {"headers": {"X-A": "a"}}, "headers"),
        ("sql", {"token": "a"}, "token"),
        ("pull", {"headers": {"X-A": "a"}}, "headers"),
        ("push", {"token": ""}, "token"),
        ("push", {"token": 5}, "token"),
        ("push", {"token": f"{CANARY}\n"}, "token"),
        ("push", {"token": f"{CANARY}ö"}, "token"),
        ("push", {"token": CANARY * 600}, "token"),
        ("push", {"headers": [CANARY]}, "headers"),
        ("push", {"headers": {"X-A": f" {CANARY}"}}, "headers.X-A"),
        ("push", {"headers": {"Authorization": CANARY}}, "headers.Authorization"),
    ],
)
def test_a_bad_secret_names_its_field_and_not_its_value(kind: str, value: Any, field: str) -> None:
    for path in ("secrets.", ""):
        with pytest.raises(Invalid) as refused:
            parse_secrets(kind, value, path)
        assert list(refused.value.fields) == [(path + field).rstrip(".") or "body"]
        assert CANARY not in str(refused.value.fields)


def test_an_evaluator_has_at_most_20_secret_headers(
    runtime: Runtime, org: Org, settings: Settings
) -> None:
    with runtime.postgres.transaction() as session:
        made = new_evaluator(session, settings, org, version={})
        change(session, settings, made, headers={f"X-{n}": "v" for n in range(20)})
        with pytest.raises(Invalid) as refused:
            change(session, settings, made, headers={"X-20": "v"})
        assert list(refused.value.fields) == ["headers"]
