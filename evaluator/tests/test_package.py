"""The package installs alone and needs nothing else, on every supported Python."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.commands import Kit
from kit.sessions import PROJECT, exports

SOURCES = PROJECT / "evaluator"
PACKAGE = SOURCES / "watchpost_evaluator"
MODULES = sorted(PACKAGE.rglob("*.py"))
# pytest loads it, so pytest is there.
OF_PYTEST = PACKAGE / "pytest_plugin.py"


def imported(path: Path) -> Iterator[str]:
    for child in ast.walk(ast.parse(path.read_text())):
        if isinstance(child, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.module is not None
            yield child.module.partition(".")[0]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 does not list its library")
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_standard_library_is_needed(path: Path) -> None:
    others = {"watchpost_evaluator", *(["pytest"] if path == OF_PYTEST else [])}
    assert {*imported(path)} - others <= sys.stdlib_module_names


@pytest.mark.flow
def test_the_package_alone_is_built(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="there is no setuptools here to build with")
    sources, built = tmp_path / "sources", tmp_path / "built"
    shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info"))
    code = "import setuptools; setuptools.setup()"
    for command in (["build", "--build-base", str(built)], ["egg_info", "-e", str(tmp_path)]):
        subprocess.run(
            [sys.executable, "-c", code, *command], cwd=sources, check=True, capture_output=True
        )
    files = {str(path.relative_to(built / "lib")) for path in built.rglob("*") if path.is_file()}
    judges = PACKAGE.glob("templates/judges/*.json")
    shipped = [*MODULES, *judges, PACKAGE / "py.typed"]
    assert files == {str(path.relative_to(SOURCES)) for path in shipped}
    [entry_points] = tmp_path.glob("*.egg-info/entry_points.txt")
    assert "watchpost-evaluator = watchpost_evaluator.__main__:main" in entry_points.read_text()


@pytest.mark.pythons
def test_the_commands_work(kit: Kit) -> None:
    (kit.folder / "export.json").write_text(json.dumps(exports()[0]))
    (kit.folder / "cases").mkdir()
    case = {"file": "../export.json", "evaluator": "turns", "expect": {"turns": 8}}
    (kit.folder / "cases" / "one.json").write_text(json.dumps(case))
    (kit.folder / "evaluators.py").write_text(
        "from watchpost_evaluator import Number, evaluator\n"
        "@evaluator('turns', version='1', result='number')\n"
        "async def turns(session):\n"
        "    return Number(len(session.tool_calls()))\n"
    )
    for command, said in (
        (("try", "--file", "export.json"), "turns@1  8"),
        (("test",), "1 of 1 cases are as expected"),
    ):
        done = kit.run(*command)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
