"""The interpreters that the kit supports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.commands import Kit
from kit.interpreters import VERSIONS, interpreter


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test that starts the kit with the newest Python; those marked `pythons` with all."""
    if "version" in metafunc.fixturenames:
        newest = max((version for version in VERSIONS if interpreter(version)), key=VERSIONS.index)
        every = metafunc.definition.get_closest_marker("pythons")
        metafunc.parametrize("version", VERSIONS if every else [newest], scope="session")


@pytest.hookimpl(tryfirst=True)  # tests/conftest.py decides afterwards which tests are fast
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that start interpreters."""
    for item in items:
        if "version" in getattr(item, "fixturenames", ()):
            item.add_marker("flow")


@pytest.fixture
def python(version: str) -> str:
    """The path of an interpreter."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} on this machine")
    return found


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled modules. Without it each process would compile the kit again."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets the folders of modules that a test loads."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def kit(python: str, tmp_path: Path, compiled: Path) -> Kit:
    """The kit with this interpreter, in an empty folder."""
    return Kit(python, tmp_path, compiled)
