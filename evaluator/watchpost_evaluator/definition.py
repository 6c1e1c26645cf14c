"""The decorator `@evaluator`, and the evaluators of a module."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from watchpost_evaluator.errors import UsageError
from watchpost_evaluator.session import Session
from watchpost_evaluator.values import KEY, KINDS, MOST_LABELS

DEFAULT_MODULE = "evaluators"
DEFAULT_TIMEOUT_SECS, LONGEST_TIMEOUT_SECS = 60.0, 600.0
_LONGEST_VERSION, _LONGEST_LABEL, _LONGEST_NAME = 128, 64, 128
_BUILT_IN = ("default", "otlp")


@dataclass(frozen=True)
class Evaluator:
    """A function that scores a session, with its key and version. `timeout`: in seconds.

    A call of it is a call of the function. `result`: the kind of the value of its own key.
    """

    key: str
    version: str
    result: str
    timeout: float
    labels: tuple[str, ...]
    title: str
    function: Callable[[Session], Any]

    def __call__(self, session: Session) -> Any:
        """Returns what the function returns; for `async def` something to await."""
        return self.function(session)

    @property
    def name(self) -> str:
        """Returns key and version as the header X-Watchpost-Evaluator has them."""
        return f"{self.key}@{self.version}"


def evaluator(
    key: str,
    *,
    version: str,
    result: str = "score",
    timeout: float = DEFAULT_TIMEOUT_SECS,
    labels: Sequence[str] = (),
    title: str | None = None,
) -> Callable[[Callable[[Session], Any]], Evaluator]:
    """Makes an evaluator of a function that takes a `Session`.

    Change `version` with each change that may change a value. `result`: score, number, assertion,
    category or text. `timeout`: seconds. Raises `ValueError` or `TypeError` for a wrong argument.
    """
    if not isinstance(key, str) or not KEY.fullmatch(key) or key in _BUILT_IN:
        raise ValueError(
            f"{key!r} is no key of an evaluator: a small letter, then small letters, digits and"
            f" underscores, at most 128; {' and '.join(_BUILT_IN)} are taken"
        )
    _check_line("version", version, _LONGEST_VERSION)
    if result not in KINDS:
        raise ValueError(f"result is one of {', '.join(KINDS)}, not {result!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is a number of seconds, not {timeout!r}")
    if not 0 < timeout <= LONGEST_TIMEOUT_SECS:
        raise ValueError(f"timeout is above 0 and at most {LONGEST_TIMEOUT_SECS:g} seconds")
    if isinstance(labels, str) or len(labels) > MOST_LABELS:
        raise ValueError(f"labels is a list of at most {MOST_LABELS} texts")
    for label in labels:
        _check_line("a label", label, _LONGEST_LABEL)
    named = title or key.replace("_", " ").capitalize()
    _check_line("title", named, _LONGEST_NAME)

    def make(function: Callable[[Session], Any]) -> Evaluator:
        if not callable(function):
            raise TypeError("@evaluator stands above a function")
        return Evaluator(
            key, version, result, float(timeout), tuple(sorted(set(labels))), named, function
        )

    return make


def _check_line(name: str, value: object, most_bytes: int) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {value!r}")
    if not 1 <= len(value.encode()) <= most_bytes or not value.isprintable():
        raise ValueError(f"{name} has 1 to {most_bytes} bytes on one line: {value!r}")


def load(name: str | None) -> list[Evaluator]:
    """Returns the evaluators of a module: `package.module`, or the path of a file.

    The default is `evaluators` in the current folder. Raises `UsageError`.
    """
    # Compiled files in somebody's folder would be a surprise, and stale if it is edited at once.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        module = _import(name or DEFAULT_MODULE)
    finally:
        sys.dont_write_bytecode = writes
    found = [one for one in vars(module).values() if isinstance(one, Evaluator)]
    unique = list({id(one): one for one in found}.values())
    if not unique:
        raise UsageError(f"{module.__name__} has no function with @evaluator")
    names = [one.name for one in unique]
    for taken in sorted({one for one in names if names.count(one) > 1}):
        raise UsageError(f"{module.__name__} has two evaluators {taken}: give one another version")
    return unique


def _import(name: str) -> ModuleType:
    try:
        if name.endswith(".py") or os.sep in name:
            return _import_file(Path(name))
        _add_to_path(Path.cwd())
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or name.split(".")[0] != error.name.split(".")[0]:
            raise UsageError(f"cannot import {name}: {error}") from error
        raise UsageError(
            f"there is no module {name} here: name yours, or the path of its file, or begin with a"
            " template (`watchpost-evaluator templates`)"
        ) from error
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"cannot import {name}: {type(error).__name__}: {error}") from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    name = f"watchpost_evaluators_{path.stem}"  # a file may be called json.py
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no module of Python: its name ends in .py")
    _add_to_path(path.resolve().parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up by its name
    spec.loader.exec_module(module)
    return module


def _add_to_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def chosen(evaluators: Iterable[Evaluator], wanted: str | None) -> list[Evaluator]:
    """Returns those with this key, or key and version (`key@version`); all without it.

    Raises `UsageError` if there is none.
    """
    every = list(evaluators)
    found = [one for one in every if wanted is None or wanted in (one.key, one.name)]
    if not found:
        there = ", ".join(sorted(one.name for one in every))
        raise UsageError(f"there is no evaluator {wanted}; there are {there}")
    return found
