"""The command `templates`: evaluators in Python, and definitions of judges, to copy and change."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from watchpost_evaluator.errors import KitError, UsageError

_FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Template:
    """A module with an evaluator, or a definition for `POST /v1/evaluators` as JSON."""

    path: Path

    @property
    def name(self) -> str:
        """Returns the key of the evaluator."""
        return self.path.stem

    @property
    def is_judge(self) -> bool:
        """Returns whether it is a definition that a language model works with."""
        return self.path.suffix == ".json"

    @property
    def description(self) -> str:
        """Returns a sentence."""
        if self.is_judge:
            return str(json.loads(self.read())["description"])
        return (ast.get_docstring(ast.parse(self.read())) or "").partition("\n")[0]

    def read(self) -> str:
        """Returns the content."""
        return self.path.read_text(encoding="utf-8")


def templates() -> list[Template]:
    """Returns those in Python, then the judges, each by name."""
    modules = (path for path in _FOLDER.glob("*.py") if path.stem != "__init__")
    return [Template(path) for path in (*sorted(modules), *sorted(_FOLDER.glob("judges/*.json")))]


def named(name: str | None) -> list[Template]:
    """Returns the one of this name, or all. Raises `UsageError`."""
    found = [one for one in templates() if name in (None, one.name)]
    if not found:
        there = ", ".join(one.name for one in templates())
        raise UsageError(f"there is no template {name}; there are {there}")
    return found


def list_all(found: Sequence[Template]) -> None:
    """Prints a line for each."""
    width = max(len(one.name) for one in found)
    for kind, is_judge in (("In Python", False), ("For a language model (judge)", True)):
        sys.stdout.write(f"{kind}:\n")
        for one in found:
            if one.is_judge == is_judge:
                sys.stdout.write(f"  {one.name:{width}}  {one.description}\n")


def copy(found: Sequence[Template], folder: Path) -> None:
    """Copies them into a folder, and prints the paths. Raises `KitError` for one that is there."""
    for target in (folder / one.path.name for one in found):
        if target.exists():
            raise KitError(f"{target} is there already; nothing was copied")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in found:
            (folder / one.path.name).write_text(one.read(), encoding="utf-8")
            sys.stdout.write(f"{folder / one.path.name}\n")
    except OSError as error:
        raise KitError(f"cannot write into {folder}: {error.strerror}") from error
