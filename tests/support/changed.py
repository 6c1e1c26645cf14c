"""Chooses the tests of changed files: `python -m tests.support.changed` prints their paths.

A noun has the same folder name in every tier. A changed file therefore selects each test folder
with its noun in the path, and each test file named after it. It also selects the tests of the files
that import it, but not of those further away: almost everything leads to `web/app.py`. A module of
the tests selects every test file that leads to it. Run the whole of `bin/test` before a merge.
"""

import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

import grimp  # comes with import-linter

PROJECT = Path(__file__).resolve().parents[2]

_TIERS = frozenset({"shared", "web", "workers", "tests"})
# The folders below `shared` that are no nouns themselves.
_WINGS = frozenset({"foundation", "access", "reading", "evaluation", "intake", "watch"})
_CONFIGURATION = frozenset({"pyproject.toml", "setup.cfg", "requirements.lock", "Procfile"})
_PACKAGES = ("shared", "web", "workers", "orgctl", "devstack", "tests", "bench")
EVERYTHING = ["tests"]

# The files that import a file, by their paths in the project.
Importers = Callable[[str], Collection[str]]


def choose(
    changed: Iterable[str], tests: Collection[str], importers: Importers = lambda _name: ()
) -> dict[str, list[str]]:
    """Returns the paths to run, out of these test files of the project, by the reason.

    The reason is a noun, with the import that leads to it if it is not that of the changed file. A
    noun that has no tests selects everything.
    """
    chosen: dict[str, list[str]] = {}
    for name in changed:
        path = PurePosixPath(name)
        if path.parts[0] == "tests" and path.suffix == ".py":
            chosen[name] = sorted(_led_to(name, tests, importers))
            continue
        for depth, noun in enumerate(_nouns(path)):
            of_noun = _tests_of(noun, tests)
            if of_noun or depth == 0:
                chosen[noun] = of_noun or EVERYTHING
    for name in changed:
        if not name.startswith("tests/"):
            for importer in sorted(importers(name)):
                noun, paths = _of_importer(importer, tests)
                if paths and noun not in {reason.partition(",")[0] for reason in chosen}:
                    chosen[f"{noun}, as {importer} imports {name}"] = paths
    return chosen


def _led_to(name: str, tests: Collection[str], importers: Importers) -> set[str]:
    """Returns the tests that import this module of the tests, at any distance, or itself."""
    seen, waiting, found = {name}, [name], set[str]()
    while waiting:
        path = PurePosixPath(waiting.pop())
        if path.name == "conftest.py":
            found.add(str(path.parent))
        elif path.name.startswith("test_"):
            found |= {str(path)} & set(tests)
        following = {one for one in importers(str(path)) if one.startswith("tests/")} - seen
        seen |= following
        waiting += following
    return found


def _of_importer(name: str, tests: Collection[str]) -> tuple[str, list[str]]:
    """Returns the noun of a file that imports a changed one, and that noun's tests.

    A module in no noun's folder puts all nouns together, and says nothing about one.
    """
    path = PurePosixPath(name)
    if path.parts[0] == "tests":
        return path.stem, [name] if name in tests else []
    if _is_loose(path):
        return name, []
    for noun in reversed(_nouns(path)):
        if paths := _tests_of(noun, tests):
            return noun, paths
    return name, []


def _nouns(path: PurePosixPath) -> Sequence[str]:
    """Returns the folders of the file below its tier; none where no test depends on it."""
    top = path.parts[0]
    if path.name in _CONFIGURATION:
        return [path.name]
    if path.suffix == ".md":
        return ["docs"]
    if top == "bench" or len(path.parts) == 1:
        return []
    return _folders(path) or [top]


def _is_loose(path: PurePosixPath) -> bool:
    """Returns whether the file lies in no noun's folder."""
    return not _folders(path)


def _folders(path: PurePosixPath) -> list[str]:
    """Returns the folders of the file that are nouns, or parts of one."""
    folders = path.parts[:-1]
    pairs = zip(folders, ("", *folders), strict=False)
    return [
        folder
        for folder, above in pairs
        if folder not in _TIERS and not (above == "shared" and folder in _WINGS)
    ]


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


def imports_of(project: Path) -> Importers:
    """Returns what imports a file of this project, also through the `__init__.py` of a package."""
    if str(project) not in sys.path:
        sys.path.insert(0, str(project))
    graph = grimp.build_graph(*_PACKAGES, cache_dir=None)

    def path_of(module: str) -> str:
        name = module.replace(".", "/")
        return f"{name}/__init__.py" if (project / name).is_dir() else f"{name}.py"

    def importers(name: str) -> Iterator[str]:
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if module not in graph.modules:
            return
        for found in graph.find_modules_that_directly_import(module):
            path = path_of(found)
            yield path
            if path.endswith("/__init__.py"):
                yield from importers(path)

    return lambda name: set(importers(name)) if name.endswith(".py") else ()


def main() -> None:
    """Prints the paths for pytest, and the reasons on standard error."""
    compared_with, changed = changed_files()
    tests = [
        str(path.relative_to(PROJECT))
        for folder in ("tests", "collector/tests", "evaluator/tests")
        for path in PROJECT.glob(f"{folder}/**/test_*.py")
    ]
    chosen = choose(changed, tests, imports_of(PROJECT))
    _say(f"{len(changed)} files differ from {compared_with}")
    for reason, paths in sorted(chosen.items()):
        said = "everything" if paths == EVERYTHING else " ".join(paths) or "no tests"
        _say(f"  {reason}: {said}")
    print(*outermost(chosen.values()), sep="\n")  # noqa: T201 bin/test reads it


def outermost(chosen: Iterable[Iterable[str]]) -> list[str]:
    """Returns these paths, without those that lie in another of them."""
    every = {path for paths in chosen for path in paths}
    return sorted(path for path in every if every.isdisjoint(map(str, PurePosixPath(path).parents)))


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 for the person at the terminal


if __name__ == "__main__":
    main()
