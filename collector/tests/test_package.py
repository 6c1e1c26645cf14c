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

from harness.collector import SOURCES, Collector
from harness.events import event, names, write
from harness.watchpost import Watchpost

PACKAGE = SOURCES / "watchpost_collect"
MODULES = sorted(PACKAGE.glob("*.py"))


def imported(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.module is not None
            yield child.module.partition(".")[0]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 does not list its library")
def test_only_the_standard_library_is_needed() -> None:
    needed = {name for path in MODULES for name in imported(ast.parse(path.read_text()))}
    assert needed - {"watchpost_collect"} <= sys.stdlib_module_names


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
    shipped = {path.name for path in MODULES} | {"py.typed"}
    assert files == {f"watchpost_collect/{name}" for name in shipped}
    [entry_points] = tmp_path.glob("*.egg-info/entry_points.txt")
    assert "watchpost-collect = watchpost_collect.__main__:main" in entry_points.read_text()


@pytest.mark.pythons
def test_every_command_works(collector: Collector, watchpost: Watchpost) -> None:
    hook = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Why?"}
    assert collector.run("hook", given=json.dumps(hook).encode()).returncode == 0
    write(collector.spool / "a.jsonl", [event(1), b"bad"])
    head = b'{"path": "/v1/traces", "content_type": "application/json", "encoding": null}'
    write(collector.home / ".failproofai/state/spool-otlp/a.jsonl", [head, b"{}"])
    transcript = write(collector.home / ".claude/projects/notes/a.jsonl", [event(2)])
    done = collector.run("watch", "--once", "--claude")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("watch: 4 files, 4 accepted, 1 skipped, 0 left\n")
    assert names(collector.spool) == ["rejected"]
    assert collector.run("import", transcript).returncode == 0
    assert "warn events: 1 files in" in collector.run("doctor", "--claude").stdout
    paths = {request.path for request in watchpost.requests}
    assert {"/v1/events", "/v1/events/import", "/v1/traces"} < paths
