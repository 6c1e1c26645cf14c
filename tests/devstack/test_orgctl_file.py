"""`bin/orgctl` finds the deployment that `bin/up` runs, unless variables name another one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from devstack.up.environment import orgctl_file, write_orgctl_file
from devstack.up.programs import PROJECT

pytestmark = pytest.mark.flow

DEPLOYMENT = {
    "DATABASE_URL": "postgresql://localhost/db?a=b c",
    "REDIS_URL": "redis://localhost:1/0",
    "CLICKHOUSE_URL": "clickhouse://u:p$w@localhost/db",
    "DEFAULT_USER_PERMISSIONS": "read-only",
    "ADMIN_KEY": "not for the tool",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose tool prints its environment."""
    tool = tmp_path / ".venv" / "bin" / "service-orgctl"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\nenv\n")
    (tmp_path / "bin").mkdir()
    shutil.copy(PROJECT / "bin" / "orgctl", tmp_path / "bin" / "orgctl")
    (tmp_path / "bin" / "setup").write_text("#!/bin/sh\n")
    for program in (tool, tmp_path / "bin" / "setup"):
        program.chmod(0o755)
    (tmp_path / ".devstack").mkdir()
    return tmp_path


def run(checkout: Path, **variables: str) -> tuple[dict[str, str], str]:
    """Returns the tool's values of the variables above, and stderr."""
    done = subprocess.run(
        [checkout / "bin" / "orgctl"],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split("=", 1) for line in done.stdout.splitlines())
    return {name: found[name] for name in DEPLOYMENT if name in found}, done.stderr


EXPECTED = {name: value for name, value in DEPLOYMENT.items() if name != "ADMIN_KEY"}


def test_it_works_on_the_deployment_that_runs_and_says_so(checkout: Path) -> None:
    directory = checkout / ".devstack"
    write_orgctl_file(directory, DEPLOYMENT)
    assert orgctl_file(directory).stat().st_mode & 0o777 == 0o600
    said = f"using the development deployment in {directory}\n"
    assert run(checkout) == (EXPECTED, said)
    assert run(checkout, REDIS_URL=DEPLOYMENT["REDIS_URL"]) == (EXPECTED, said)


def test_the_directory_may_be_another(checkout: Path, tmp_path: Path) -> None:
    other = tmp_path / "other place"
    other.mkdir()
    write_orgctl_file(other, DEPLOYMENT)
    assert run(checkout) == ({}, "")
    assert run(checkout, DEVSTACK_DIR=str(other))[0] == EXPECTED


def test_variables_that_name_another_deployment_win(checkout: Path) -> None:
    write_orgctl_file(checkout / ".devstack", DEPLOYMENT)
    other = {"REDIS_URL": "redis://elsewhere/0"}
    # Nothing comes from the development deployment.
    assert run(checkout, **other) == (other, "")


def test_a_file_that_a_killed_process_left_is_not_used(checkout: Path) -> None:
    directory = checkout / ".devstack"
    write_orgctl_file(directory, DEPLOYMENT)
    ended = subprocess.Popen(["true"])
    ended.wait()
    path = orgctl_file(directory)
    path.write_text(path.read_text().replace(str(os.getpid()), str(ended.pid), 1))
    assert run(checkout) == ({}, "")
