"""Files with one OTLP request each: a first line that says where it goes, then its body."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from watchpost_collect.client import Client, Declined
from watchpost_collect.connection import JSON, PROTOBUF
from watchpost_collect.otlp_records import Refusal, count_records, refusal
from watchpost_collect.report import Report
from watchpost_collect.spool import POISON, REJECTED, Spool
from watchpost_collect.turns import Turns
from watchpost_collect.writers import has_writer

_PATHS = tuple(
    f"{prefix}/v1/{signal}"
    for prefix in ("", "/api/public/otel")
    for signal in ("traces", "logs", "metrics")
)
_ENCODINGS = (None, "", "identity", "gzip", "zstd")


class Malformed(Exception):
    """The first line of a file does not say where to send the rest."""


@dataclass(frozen=True)
class Request:
    """The content of a file. An `encoding` of "" is none."""

    path: str
    content_type: str
    encoding: str
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        encoding = {"Content-Encoding": self.encoding} if self.encoding else {}
        return {"Content-Type": self.content_type, **encoding}


def read_request(data: bytes) -> Request:
    """Returns the request that a file describes. Raises `Malformed` if it describes none."""
    first, _, body = data.partition(b"\n")
    try:
        head = json.loads(first)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the first line is not JSON: {error}") from error
    if not isinstance(head, dict):
        raise Malformed("the first line is no JSON object")
    path, content_type, encoding = (head.get(name) for name in ("path", "content_type", "encoding"))
    if path not in _PATHS:
        raise Malformed(f"the path {path!r} is none of {', '.join(_PATHS)}")
    if content_type not in (JSON, PROTOBUF):
        raise Malformed(f"the content type {content_type!r} is neither {JSON} nor {PROTOBUF}")
    if encoding not in _ENCODINGS:
        raise Malformed(f"the encoding {encoding!r} is none of gzip, zstd, identity")
    return Request(path, content_type, "" if encoding in (None, "identity") else encoding, body)


@dataclass(frozen=True)
class OtlpFiles:
    """The OTLP files of one folder."""

    spool: Spool
    client: Client
    report: Report
    turns: Turns

    def waiting(self) -> list[Path]:
        """Returns the files that are not sent."""
        return self.spool.files()

    def look(self) -> None:
        """Sends the files that are complete."""
        for path in self.spool.files():
            if self.turns.is_due(path):
                with self.turns.of(path):
                    self._send(path)

    def _send(self, path: Path) -> None:
        # A lease must not last as long as a request, so the file is open only before and after.
        with self.spool.open(path) as file:
            if has_writer(file):
                self.report.left(path, "a process still writes it")
                return
            data = file.read()
        try:
            refused = self._post(path, read_request(data))
        except (Malformed, Declined) as error:
            self.spool.poison(path, str(error))
            self.report.moved(path, POISON, str(error))
            self.report.done(path)
            return
        with self.spool.open(path) as file:
            if has_writer(file) or not self.spool.is_unchanged(path, file, len(data)):
                self.report.left(path, "it changed while it was sent")
            elif refused.count:
                self.spool.put_aside(path, refused.reason)
                self.report.moved(path, REJECTED, refused.reason)
                self.report.done(path)
            else:
                self.spool.finish(path)
                self.report.done(path)

    def _post(self, path: Path, request: Request) -> Refusal:
        answer = self.client.post(request.path, request.body, request.headers)
        refused = refusal(answer)
        accepted = 0
        if not request.path.endswith("/metrics"):  # of which nothing is stored
            records = count_records(request.body, request.content_type, request.encoding)
            accepted = max(0, records - refused.count)
        self.report.sent(path, request.path, answer.status, accepted, refused.count)
        if refused.reason and not refused.count:
            self.report.warn(f"{path}: {refused.reason}")
        return refused
