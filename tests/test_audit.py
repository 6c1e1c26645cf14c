"""`bin/check --audit` with a service of known vulnerabilities on loopback."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.evaluator import Evaluator, Exchange, reply, running_evaluator
from tests.support.markdown import PROJECT

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm"),
]

BAD = {"package": {"name": "jinja2", "ecosystem": "PyPI"}, "version": "2.4"}
ADVISORY = {
    "id": "PYSEC-0000-1",
    "schema_version": "1.4.0",
    "summary": "a template leaves its sandbox",
    "affected": [{"package": BAD["package"], "versions": ["2.4"]}],
}


def known(exchange: Exchange) -> None:
    """Answers as the service for Python does, which knows one bad version, and as that of npm."""
    found = exchange.received.path == "/v1/query" and json.loads(exchange.received.body) == BAD
    return reply(200, {"vulns": [ADVISORY]} if found else {})(exchange)


@pytest.fixture
def service() -> Iterator[Evaluator]:
    with running_evaluator() as running:
        running.default = known
        yield running


def audit(
    url: str, folder: Path, version: str, hashes: str = f"--hash=sha256:{'0' * 64}"
) -> tuple[int, str]:
    """Returns the exit code and the output for a lock file with this version of Jinja."""
    lock = folder / "requirements.lock"
    lock.write_text(f"jinja2=={version} {hashes}\n")
    done = subprocess.run(
        [PROJECT / "bin/check", "--audit", lock],
        env={
            "PATH": f"{Path(shutil.which('npm') or '').parent}:/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_AUDIT_OSV_URL": f"{url}/v1/query",
            "npm_config_registry": url,
            "npm_config_fetch_retries": "0",
        },
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_lock_with_a_version_that_is_known_to_be_bad_fails(
    service: Evaluator, tmp_path: Path
) -> None:
    code, said = audit(service.url, tmp_path, "2.4")
    assert code == 1, said
    assert "PYSEC-0000-1" in said
    code, said = audit(service.url, tmp_path, "2.5")
    assert code == 0, said
    assert said.count("No known vulnerability in ") == 2


def test_without_a_service_nothing_is_known(tmp_path: Path) -> None:
    code, said = audit("http://127.0.0.1:1", tmp_path, "2.4")
    assert code == 3, said
    assert said.count("No service for known vulnerabilities answered") == 2


def test_a_lock_that_cannot_be_read_fails(service: Evaluator, tmp_path: Path) -> None:
    """Nothing is wrong with the service, so the lock is not accepted as one that nobody knows."""
    code, said = audit(service.url, tmp_path, "2.5", hashes="")
    assert code == 1, said
    assert "jinja2==2.5 does not contain a hash" in said
    assert "No service" not in said


@pytest.mark.parametrize(("status", "ends"), [(400, 1), (405, 3), (503, 3)])
def test_only_a_service_that_is_not_there_is_told_from_a_fault(
    service: Evaluator, tmp_path: Path, status: int, ends: int
) -> None:
    """A service for packages of npm that refuses the list knows of a fault in it."""

    def refused(exchange: Exchange) -> None:
        is_python = exchange.received.path == "/v1/query"
        return (known if is_python else reply(status, {}))(exchange)

    service.default = refused
    code, said = audit(service.url, tmp_path, "2.5")
    assert code == ends, said
    assert ("No service" in said) == (ends == 3)
