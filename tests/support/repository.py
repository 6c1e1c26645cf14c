"""The names that documents use of the repository: its files, and the definitions of its code."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tests.support.markdown import PROJECT, prose

# Folders that other programs make.
_MADE = {"node_modules", "__pycache__", "build"}
_HIDDEN_BUT_OURS = {".ci", ".github"}
_CODE = {".py", ".ts", ".tsx", ".mjs"}
_SUFFIXES = "py|ts|tsx|mjs|css|json|xml|toml|cfg|lock|yaml|yml|svg|png"
_FILE = re.compile(rf"[\w.@<>*-]+(?:/[\w.@<>*-]+)*\.(?:{_SUFFIXES})")
_PATH = re.compile(r"[\w.@<>*-]+(?:/[\w.@<>*-]+)*/?")
# A definition begins a line, so that no word of a sentence counts.
_DEFINED = re.compile(
    r"\n *(?:(?:export |default |abstract |async )*"
    r"(?:class|def|interface|type|function|const|enum) (\w+)|(\w+)(?:: | =))"
)


def in_backticks(text: str) -> list[str]:
    """Returns what stands between backticks, without blocks."""
    return re.findall(r"`([^`\n]+)`", prose(text))


def looks_like_a_path(name: str) -> bool:
    """Returns whether a name has the form of a path in the repository."""
    if _FILE.fullmatch(name):
        return True
    return "/" in name and bool(_PATH.fullmatch(name)) and name.split("/")[0] in _top_folders()


def exists(name: str) -> bool:
    """Returns whether a file or a folder has this path, or a path that ends with it.

    `*` and `<name>` stand for one part of a path or a piece of it.
    """
    path = name.rstrip("/")
    if not re.search(r"[*<]", path):
        return path in _endings()
    pattern = "".join(
        "[^/]+" if re.fullmatch(r"\*|<\w+>", piece) else re.escape(piece)
        for piece in re.split(r"(\*|<\w+>)", path)
    )
    return any(re.fullmatch(pattern, one) for one in _endings())


def names(path: str, word: str) -> bool:
    """Returns whether a file whose path ends with this one contains the word."""
    return any(
        re.search(rf"\b{word}\b", (PROJECT / one).read_text())
        for one in _paths()
        if f"/{one}".endswith(f"/{path}")
    )


@cache
def defined() -> set[str]:
    """Returns the names of all classes, types, functions and constants."""
    return {name for names in _definitions().values() for name in names}


def is_defined(dotted: str) -> bool:
    """Returns whether `module.name` or `shared.wing.module.name` is a module or defined in one.

    A name of a package may be defined in any module of it.
    """
    module, _, name = dotted.replace(".", "/").rpartition("/")
    return is_a_module(f"{module}/{name}") or any(
        name in names
        for path, names in _definitions().items()
        if f"/{module}/" in f"/{path}" or f"/{path}".endswith(f"/{module}.py")
    )


def is_a_module(name: str) -> bool:
    """Returns whether a module or a package of Python has this path, without `.py`."""
    return exists(f"{name}.py") or exists(f"{name}/__init__.py")


@cache
def _top_folders() -> set[str]:
    return {path.split("/")[0] for path in _paths() if "/" in path}


@cache
def _endings() -> set[str]:
    parts = [PurePosixPath(path).parts for path in _paths()]
    return {"/".join(one[first:]) for one in parts for first in range(len(one))}


@cache
def _definitions() -> dict[str, set[str]]:
    """Returns for each file of code the names that it defines."""
    return {
        path: {one or other for one, other in _DEFINED.findall((PROJECT / path).read_text())}
        for path in _paths()
        if PurePosixPath(path).suffix in _CODE and not path.startswith("web/ui/static/")
    }


@cache
def _paths() -> tuple[str, ...]:
    """Returns the paths of all files and folders."""
    return tuple(str(path.relative_to(PROJECT)) for path in _below(PROJECT))


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name not in _HIDDEN_BUT_OURS
            if hidden or path.name in _MADE:
                continue
            yield from _below(path)
        yield path
