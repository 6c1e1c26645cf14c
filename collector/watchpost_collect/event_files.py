"""Files of events, one JSON object a line, sent unchanged to `POST /v1/events`."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from watchpost_collect.client import Client, Declined
from watchpost_collect.connection import Answer
from watchpost_collect.pieces import Piece, pieces
from watchpost_collect.report import Report
from watchpost_collect.spool import POISON, BadLine, Spool
from watchpost_collect.state import State, tail_digest
from watchpost_collect.turns import Turns
from watchpost_collect.writers import has_writer

PATH = "/v1/events"
_HEADERS = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
_COUNTS = ("accepted", "skipped")


@dataclass(frozen=True)
class EventFiles:
    """The event files of one folder."""

    spool: Spool
    client: Client
    state: State
    report: Report
    turns: Turns

    def waiting(self) -> list[Path]:
        """Returns the files that are not sent as a whole."""
        return self.spool.files()

    def look(self) -> None:
        """Sends what is new."""
        for path in self.spool.files():
            if self.turns.is_due(path):
                with self.turns.of(path):
                    self._look_at(path)

    def _look_at(self, path: Path) -> None:
        try:
            with self.spool.open(path) as file:
                self._send(path, file)
        except Declined as declined:
            self.spool.poison(path, str(declined))
            self.state.forget(path)
            self.report.moved(path, POISON, str(declined))
            self.report.done(path)

    def _send(self, path: Path, file: BinaryIO) -> None:
        """Sends the lines that are not sent yet, and removes the file if it is complete."""
        inode = os.fstat(file.fileno()).st_ino
        end, number = self._place(path, file, inode)
        for piece in pieces(file, end, number):
            bad = self._send_piece(path, piece)
            if bad:
                self.spool.reject(path, bad)
            end, number = piece.end, piece.first + piece.data.count(b"\n")
            self.state.note(path, inode=inode, end=end, line=number, tail=tail_digest(file, end))
        if has_writer(file):
            self.report.left(path, "a process still writes it")
        elif self.spool.is_unchanged(path, file, end):
            self.spool.finish(path)
            self.state.forget(path)
            self.report.done(path)
        else:
            self.report.left(path, "its last line is not finished")

    def _place(self, path: Path, file: BinaryIO, inode: int) -> tuple[int, int]:
        """Returns where the first line starts that was not sent, and its number."""
        noted = self.state.get(path)
        try:
            end, number = int(noted["end"]), int(noted["line"])
            is_known = (noted["inode"], noted["tail"]) == (inode, tail_digest(file, end))
        except (KeyError, TypeError, ValueError):
            return 0, 1
        return (end, number) if is_known else (0, 1)

    def _send_piece(self, path: Path, piece: Piece) -> list[BadLine]:
        """Returns the lines that Watchpost skipped."""
        if piece.is_too_long:
            self.report.skipped += 1
            return [BadLine(piece.first, "the line is longer than 8 MiB", piece.data)]
        answer = self._post(piece.data)
        accepted, skipped = _counts(answer)
        self.report.sent(path, PATH, answer.status, accepted, skipped)
        return list(self._skipped_lines(piece.first, piece.lines, answer))

    def _post(self, data: bytes) -> Answer:
        packed = gzip.compress(data, 6)
        return self.client.post(PATH, packed, _HEADERS, expected=202, counts=_COUNTS)

    def _skipped_lines(
        self, first: int, lines: Sequence[bytes], answer: Answer
    ) -> Iterator[BadLine]:
        """Yields what was skipped of these lines. An answer names at most 20 of them.

        The rest is sent once more in halves, which changes nothing: the same line is stored once.
        """
        accepted, skipped = _counts(answer)
        named = {
            int(error["line"]): str(error["error"]) for error in answer.document.get("errors", [])
        }
        for number in sorted(named):
            yield BadLine(first + number - 1, named[number], lines[number - 1])
        if skipped <= len(named):
            return
        start = max(named, default=0)
        if accepted == 0:
            for number, line in enumerate(lines[start:], first + start):
                if line.strip():
                    yield BadLine(number, "as above; an answer gives 20 reasons", line)
            return
        middle = start + (len(lines) - start + 1) // 2
        for begin, end in ((start, middle), (middle, len(lines))):
            if begin < end:
                half = lines[begin:end]
                yield from self._skipped_lines(first + begin, half, self._post(b"\n".join(half)))


def _counts(answer: Answer) -> tuple[int, int]:
    document = answer.document
    return document["accepted"], document["skipped"]
