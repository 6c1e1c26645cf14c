"""A collector under several interpreters, and the server that it talks to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.interpreters import VERSIONS, interpreter
from harness.watchpost import Watchpost, running_watchpost

OPTION = "--every-python"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION, action="store_true", help="run each test with every supported Python, not with one"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test that has a collector with the newest Python that is present.

    Those marked `pythons` run with all of them, as far as they are there.
    """
    if "version" in metafunc.fixturenames and metafunc.definition.get_closest_marker("pythons"):
        metafunc.parametrize("version", VERSIONS, scope="session")
    elif "version" in metafunc.fixturenames:
        newest = max((version for version in VERSIONS if interpreter(version)), key=VERSIONS.index)
        every = metafunc.config.getoption(OPTION, default=False)
        metafunc.parametrize("version", VERSIONS if every else [newest], scope="session")


@pytest.hookimpl(tryfirst=True)  # tests/conftest.py decides afterwards which tests are fast
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that start interpreters or a server."""
    for item in items:
        if not {"version", "watchpost"}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("flow")


@pytest.fixture
def python(version: str) -> str:
    """The path of an interpreter."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} on this machine")
    return found


@pytest.fixture
def watchpost() -> Iterator[Watchpost]:
    with running_watchpost() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled modules. Without it each process would compile the collector again."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def collector(python: str, home: Path, watchpost: Watchpost, compiled: Path) -> Collector:
    made = Collector(python, home, watchpost.url, compiled)
    made.spool.mkdir(parents=True)
    return made
