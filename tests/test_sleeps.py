"""A test waits for events and not for seconds, since a busy machine needs more of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.markdown import PROJECT


def bare_sleeps(source: str) -> Iterator[int]:
    """Yields the lines of sleeps outside a `while`, and without a comment there or just above."""
    if "sleep(" not in source:
        return
    tree, lines = ast.parse(source), source.splitlines()
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    looks = {id(inner) for loop in loops for inner in ast.walk(loop)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in looks:
            continue
        here, above = lines[node.lineno - 1], lines[node.lineno - 2].strip()
        is_sleep = ast.unparse(node.func) in ("time.sleep", "sleep")
        if is_sleep and "  # " not in here and not above.startswith("# "):
            yield node.lineno


def test_a_sleep_is_the_pause_of_a_loop_or_says_why_it_is_there() -> None:
    folders = ("tests", "collector/tests", "evaluator/tests")
    files = [path for one in folders for path in (PROJECT / one).rglob("*.py")]
    assert {
        name_of(path): found for path in files if (found := [*bare_sleeps(path.read_text())])
    } == {}


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def test_a_bare_sleep_is_found() -> None:
    assert [*bare_sleeps("import time\ntime.sleep(1)\n")] == [2]
    assert [*bare_sleeps("# A moment later.\ntime.sleep(1)\n")] == []
    assert [*bare_sleeps("time.sleep(1)  # a moment\n")] == []
    assert [*bare_sleeps("while not done():\n    time.sleep(1)\n")] == []
