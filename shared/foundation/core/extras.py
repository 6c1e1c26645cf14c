"""Imports libraries without the optional packages that they look for."""

import importlib
import sys
from collections.abc import Collection
from types import ModuleType


def import_without(library: str, extras: Collection[str]) -> ModuleType:
    """Imports `library` while the packages `extras` seem not to be installed, and returns it.

    Later imports find them again. A package that was imported before stays visible.
    """
    hidden = [extra for extra in extras if extra not in sys.modules]
    # Python's import system refuses a name whose entry is None.
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None is documented
    try:
        return importlib.import_module(library)
    finally:
        for extra in hidden:
            del sys.modules[extra]
