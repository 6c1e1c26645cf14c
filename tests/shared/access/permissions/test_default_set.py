"""DEFAULT_USER_PERMISSIONS has to name a set that a member can have."""

import secrets
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from shared.access.permissions import BUILTIN_SETS
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.access.permissions.custom_sets.service import require_default
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.deployment.runtime import Runtime
from tests.support.processes import running
from tests.support.runtime import Org, make_org


@pytest.mark.parametrize("name", BUILTIN_SETS)
def test_a_built_in_set_may_be_named(runtime: Runtime, name: str) -> None:
    check(runtime, name)


def test_a_set_of_any_organization_may_be_named(runtime: Runtime, org: Org) -> None:
    name = f"set-{secrets.token_hex(4)}"
    with pytest.raises(ConfigurationError) as refused:
        check(runtime, name)
    said = str(refused.value)
    assert said.startswith("DEFAULT_USER_PERMISSIONS names no permission set: use one of read-only")
    assert name not in said
    with runtime.postgres.transaction() as session:
        session.add(PermissionSet(org_id=org.uuid, name=name, description="", permissions=[]))
    check(runtime, name)
    with pytest.raises(ConfigurationError, match=name):
        check(runtime, "standart")


def test_a_set_that_some_organizations_lack_is_warned_about(runtime: Runtime, org: Org) -> None:
    make_org(runtime)
    name = f"set-{secrets.token_hex(4)}"
    with runtime.postgres.transaction() as session:
        session.add(PermissionSet(org_id=org.uuid, name=name, description="", permissions=[]))
        living = session.scalar(text("SELECT count(*) FROM organizations WHERE deleted_at IS NULL"))
    with capture_logs() as logged:
        check(runtime, name)
        check(runtime, "standard")
    [warned] = logged
    assert warned["event"] == "default_set_unknown_to_some"
    assert (warned["organizations"], warned["they_use"]) == (living - 1, "standard")


def check(runtime: Runtime, name: str) -> None:
    settings = msgspec.structs.replace(runtime.settings, default_user_permissions=name)
    with runtime.postgres.transaction() as session:
        require_default(session, settings)


@pytest.mark.flow
@pytest.mark.parametrize("program", [("web.wsgi",), ("workers.main", "mail")])
def test_no_process_starts_with_a_misspelt_name(
    runtime: Runtime, tmp_path: Path, program: tuple[str, ...]
) -> None:
    settings = msgspec.structs.replace(runtime.settings, default_user_permissions="standart")
    log = tmp_path / "log"
    with running(*program, settings=settings, log=log) as process:
        assert process.wait(60) == 1
    assert b"DEFAULT_USER_PERMISSIONS names no permission set" in log.read_bytes()
