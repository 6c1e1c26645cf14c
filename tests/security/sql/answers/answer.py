"""A statement, its parameters, and its rows as plain Python computes them."""

from collections.abc import Callable
from typing import Any

from tests.security.sql.recorded import Recording

Answer = tuple[str, list[object], Callable[[Recording], Any]]
