"""Events and files of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def event(number: int, **fields: object) -> bytes:
    """Returns a line without its line break. Each number makes another event."""
    moment = f"2026-11-22T08:00:00.{number:06d}Z"
    named = {"session_id": "s-1", "type": "tool_use", "timestamp": moment, **fields}
    return json.dumps(named).encode()


def write(path: Path, lines: Sequence[bytes]) -> Path:
    """Writes lines with line breaks, and the folders above."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def names(folder: Path) -> list[str]:
    """Returns the names in a folder that are not hidden; empty if there is none."""
    if not folder.exists():
        return []
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
