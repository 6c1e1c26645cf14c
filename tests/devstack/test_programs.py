"""Compiling the modules that programs share, before they start together."""

import importlib.util
from pathlib import Path

import pytest

from devstack.up import programs

pytestmark = pytest.mark.flow


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of a project of its own, where Python is asked to write no compiled ones."""
    monkeypatch.setattr(programs, "PROJECT", tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    made = tmp_path / "shared" / "module.py"
    made.parent.mkdir()
    made.write_text("answer = 42\n")
    return made


def test_modules_are_compiled_when_the_block_ends(module: Path) -> None:
    with programs.compiled_meanwhile():
        pass
    assert Path(importlib.util.cache_from_source(str(module))).exists()


def test_a_module_that_cannot_be_compiled_stops_nothing(
    module: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    module.write_text("answer =\n")
    with programs.compiled_meanwhile():
        pass
    assert capfd.readouterr() == ("", "")
