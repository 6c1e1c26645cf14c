"""Chooses the tests of changed files: `python -m tests.support.changed` prints their paths.

A noun has the same folder name in every tier. A changed file therefore selects each test folder
with its noun in the path, and each test file named after it. This misses tests of other nouns that
use the changed code, so run the whole of `bin/test` before a merge.
"""

import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).resolve().parents[2]

_TIERS = frozenset({"shared", "web", "workers", "tests"})
# Every noun depends on these or is tested with them. `shared` and `tests` stand for a module in no
# folder.
_FOUNDATIONS = frozenset(
    {"cache", "clickhouse", "core", "deployment", "permissions", "postgres", "queue"}
    | {"shared", "support", "tests"}
)
_CONFIGURATION = frozenset({"pyproject.toml", "setup.cfg", "requirements.lock", "Procfile"})
EVERYTHING = ["tests"]


def choose(changed: Iterable[str], tests: Collection[str]) -> dict[str, list[str]]:
    """Returns the paths to run for each changed noun, out of these test files of the project.

    A noun that everything depends on, or that has no tests of its own, selects everything.
    """
    chosen: dict[str, list[str]] = {}
    for name in changed:
        path = PurePosixPath(name)
        if path.name.startswith("test_") and path.suffix == ".py" and _is_loose(path):
            chosen[name] = [name] if name in tests else []
            continue
        for depth, noun in enumerate(_nouns(path)):
            of_noun = [] if noun in _FOUNDATIONS else _tests_of(noun, tests)
            if of_noun or depth == 0:
                chosen[noun] = of_noun or EVERYTHING
    return chosen


def _nouns(path: PurePosixPath) -> Sequence[str]:
    """Returns the folders of the file below its tier; none where no test depends on it."""
    top = path.parts[0]
    if path.name in _CONFIGURATION:
        return [path.name]
    if path.suffix == ".md":
        return ["docs"]
    if top == "bench" or len(path.parts) == 1:
        return []
    return [part for part in path.parts[:-1] if part not in _TIERS] or [top]


def _is_loose(path: PurePosixPath) -> bool:
    """Returns whether the file lies in no noun's folder."""
    return all(part in _TIERS for part in path.parts[:-1])


def _tests_of(noun: str, tests: Iterable[str]) -> list[str]:
    """Returns folders with this component, and files elsewhere that are named after it."""
    found = set()
    for name in tests:
        path = PurePosixPath(name)
        if noun in path.parts[:-1]:
            found.add("/".join(path.parts[: path.parts.index(noun) + 1]))
        elif path.stem == f"test_{noun}" or path.stem.startswith(f"test_{noun}_"):
            found.add(name)
    return sorted(found)


def changed_files(project: Path = PROJECT) -> tuple[str, list[str]]:
    """Returns the commit to compare the working tree with, and the files that differ from it.

    That is the commit of `main` that the branch began at. On `main` itself it is the last commit,
    or the one before it when nothing is uncommitted.
    """

    def git(*arguments: str) -> list[str]:
        said = subprocess.run(["git", *arguments], cwd=project, capture_output=True, text=True)
        return said.stdout.splitlines() if said.returncode == 0 else []

    def differing(base: str) -> list[str]:
        return [
            *git("diff", "--name-only", "--no-renames", base),
            *git("ls-files", "--others", "--exclude-standard"),
        ]

    head = git("rev-parse", "HEAD")
    for main in ("main", "origin/main"):
        base = git("merge-base", main, "HEAD")
        if base and base != head:
            return f"{main} ({base[0][:9]})", differing(base[0])
    uncommitted = differing("HEAD")
    return ("the last commit", uncommitted) if uncommitted else ("HEAD~1", differing("HEAD~1"))


def main() -> None:
    """Prints the paths for pytest, and the reasons on standard error."""
    compared_with, changed = changed_files()
    tests = [
        str(path.relative_to(PROJECT))
        for folder in ("tests", "collector/tests")
        for path in PROJECT.glob(f"{folder}/**/test_*.py")
    ]
    chosen = choose(changed, tests)
    _say(f"{len(changed)} files differ from {compared_with}")
    for noun, paths in sorted(chosen.items()):
        _say(f"  {noun}: {'everything' if paths == EVERYTHING else ' '.join(paths) or 'no tests'}")
    print(*outermost(chosen.values()), sep="\n")  # noqa: T201 bin/test reads it


def outermost(chosen: Iterable[Iterable[str]]) -> list[str]:
    """Returns these paths, without those that lie in another of them."""
    every = {path for paths in chosen for path in paths}
    return sorted(path for path in every if every.isdisjoint(map(str, PurePosixPath(path).parents)))


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 for the person at the terminal


if __name__ == "__main__":
    main()
