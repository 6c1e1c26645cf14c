"""Made-up transcripts of coding agents, in the formats of the programs (see their README)."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from shared.intake.imports.assembling import Conversion, ImportTarget
from shared.intake.imports.decisions import has_kinds, proposed
from shared.intake.imports.file import ImportFile
from shared.intake.imports.formats import format_of
from shared.intake.otlp.assignment.assign import Rules
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.sessions import Session
from shared.intake.redaction.rules import Redactor
from tests.support.airline import airline_folder


class LocalDecisions:
    """The defaults of the settings, and the sessions that the records of a file name."""

    def rules(self) -> Rules:
        return Rules("in_agent_traces", 5000)

    def sessions(self, traces: Mapping[str, Sequence[Item]]) -> Mapping[str, Session]:
        return {
            trace_id: Session(*proposed(trace_id, items), has_kinds(items))
            for trace_id, items in traces.items()
        }


ORG = "6f8a3c1e-0000-4000-8000-000000000000"
TARGET = ImportTarget(ORG, "upload", 1024 * 1024, 64 * 1024 * 1024, LocalDecisions(), Redactor(()))
CLAUDE = "claude/notes-app/5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30.jsonl"
SUBAGENT = "claude/notes-app/5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30/subagents/agent-e4d1.jsonl"
CODEX = "codex/rollout-2026-11-18T10-40-00-0a9d2c44-51f7-4b0e-8a63-7c1d9e5f2b18.jsonl"
EVERY = (CLAUDE, SUBAGENT, CODEX)


def transcript(path: str) -> bytes:
    """Returns the bytes of a transcript. If it is missing, the test skips, and fails in CI."""
    folder: Path = airline_folder().parent / "transcripts"
    if (folder / path).exists():
        return (folder / path).read_bytes()
    reason = f"no transcripts in {folder}: set WATCHPOST_SHARED"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Told(NamedTuple):
    """A converted file with its events decoded."""

    converted: Conversion
    events: list[dict[str, Any]]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Returns the events of a type."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def types(self) -> list[str]:
        """The types of the events, in order."""
        return [event["type"] for event in self.events]


def told(
    text: bytes,
    path: str = "",
    form: str = "auto",
    started_us: int | None = None,
    **changes: Any,
) -> Told:
    """Converts a file for the target, with these changes of it."""
    file = ImportFile(text, path, started_us)
    converted = format_of(file, form).read(file, msgspec.structs.replace(TARGET, **changes))
    return Told(converted, [json.loads(payload) for payload in converted.batch.payloads])


def lines_of(*objects: object) -> bytes:
    """Returns a file with an object on each line."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)
