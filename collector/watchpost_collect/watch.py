"""The command `watch`: sends what is there, and then what comes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from watchpost_collect.client import Client
from watchpost_collect.dimensions import Dimensions
from watchpost_collect.errors import OK, CollectorError, Stopped
from watchpost_collect.event_files import EventFiles
from watchpost_collect.imports import Wishes
from watchpost_collect.otlp_files import OtlpFiles
from watchpost_collect.report import Report
from watchpost_collect.settings import Folders
from watchpost_collect.spool import Spool
from watchpost_collect.state import State
from watchpost_collect.transcripts import Transcripts
from watchpost_collect.turns import Turns
from watchpost_collect.writers import QUIET_SECS

POLL_SECS = 0.5


class Source(Protocol):
    """Files of one kind in one folder."""

    def look(self) -> None:
        """Sends what can be sent now."""

    def waiting(self) -> Sequence[Path]:
        """Returns the files that are not sent as a whole."""


@dataclass(frozen=True)
class Wanted:
    """The options of `watch`."""

    folders: Folders
    environment: str | None
    dimensions: Dimensions
    once: bool
    keep: bool
    any_owner: bool


def watch(wanted: Wanted, client: Client, state: State, report: Report) -> int:
    """Returns the exit status when all is sent (`once`) or a signal came."""
    sources = _sources(wanted, client, state, report)
    status = OK
    state.drop_missing()
    try:
        _look(sources, state)
        if wanted.once and any(source.waiting() for source in sources):
            time.sleep(QUIET_SECS)  # for the files that were still being written
            _look(sources, state)
        while not wanted.once:
            time.sleep(POLL_SECS)
            _look(sources, state)
    except CollectorError as error:
        report.warn(f"watchpost-collect: {error}")
        status = error.status
    except Stopped:
        pass
    state.save()
    of_sums = report.summary(left=sum(len(source.waiting()) for source in sources))
    return status or of_sums


def _look(sources: Sequence[Source], state: State) -> None:
    for source in sources:
        source.look()
    state.save()


def _sources(wanted: Wanted, client: Client, state: State, report: Report) -> list[Source]:
    folders, turns, any_owner = wanted.folders, Turns(client, report), wanted.any_owner

    def spool(folder: Path) -> Spool:
        return Spool(folder, wanted.keep, any_owner)

    sources: list[Source] = [
        EventFiles(spool(folder), client, state, report, turns) for folder in folders.events
    ]
    sources += [OtlpFiles(spool(folder), client, report, turns) for folder in folders.otlp]
    for name, folder in (("claude", folders.claude), ("codex", folders.codex)):
        if folder is not None:
            wishes = Wishes(name, wanted.environment, dimensions=wanted.dimensions)
            sources.append(
                Transcripts(folder, wishes, client, state, report, turns, wanted.once, any_owner)
            )
    return sources
