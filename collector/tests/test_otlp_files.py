"""OTLP files: their body goes as it is to the path of their first line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.events import names
from harness.watchpost import Reply, Watchpost, json_reply, refusal

JSON, PROTOBUF = "application/json", "application/x-protobuf"


def field(number: int, value: bytes) -> bytes:
    """Returns a field of protobuf that is shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(value)]) + value


# The spans of each scope of each resource: four in all.
SPANS = (((1, 1), (1,)), ((1,),))
DOCUMENT = json.dumps(
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{}] * len(scope)} for scope in resource]}
            for resource in SPANS
        ]
    }
).encode()
MESSAGE = b"".join(
    field(1, b"".join(field(2, field(2, b"\x0a\x01a") * len(scope)) for scope in resource))
    for resource in SPANS
)


@pytest.fixture
def folder(collector: Collector) -> Path:
    """The folder that is watched without options."""
    path = collector.home / ".failproofai/state/spool-otlp"
    path.mkdir(parents=True)
    return path


def write(
    folder: Path, path: str, content_type: str, body: bytes, encoding: str | None = None
) -> Path:
    head = {"path": path, "content_type": content_type, "encoding": encoding}
    made = folder / "otlp-1.jsonl"
    made.write_bytes(json.dumps(head).encode() + b"\n" + body)
    return made


@pytest.mark.parametrize("prefix", ["", "/api/public/otel"])
@pytest.mark.parametrize("signal", ["traces", "logs", "metrics"])
def test_the_body_goes_to_the_path(
    collector: Collector, watchpost: Watchpost, folder: Path, prefix: str, signal: str
) -> None:
    body = b'{"not": \n"looked at"}\n'
    write(folder, f"{prefix}/v1/{signal}", JSON, body)
    done = collector.run("watch", "--once")
    assert done.returncode == 0
    [request] = watchpost.to(f"{prefix}/v1/{signal}")
    assert request.packed == body
    assert request.headers["content-type"] == JSON
    assert "content-encoding" not in request.headers
    assert names(folder) == []


@pytest.mark.parametrize(
    ("content_type", "encoding", "body"),
    [
        (JSON, None, DOCUMENT),
        (JSON, "gzip", gzip.compress(DOCUMENT)),
        (PROTOBUF, None, MESSAGE),
        (PROTOBUF, "identity", MESSAGE),
        (PROTOBUF, "gzip", gzip.compress(MESSAGE)),
    ],
)
def test_spans_are_counted(
    collector: Collector,
    watchpost: Watchpost,
    folder: Path,
    content_type: str,
    encoding: str | None,
    body: bytes,
) -> None:
    write(folder, "/v1/traces", content_type, body, encoding)
    done = collector.run("watch", "--once")
    assert done.stdout.endswith("watch: 1 files, 4 accepted, 0 skipped, 0 left\n")
    [request] = watchpost.to("/v1/traces")
    assert request.packed == body
    sent = request.headers.get("content-encoding")
    assert sent == (encoding if encoding == "gzip" else None)


PARTIAL = {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "1 of 4 spans rejected"}}


@pytest.mark.parametrize(
    ("content_type", "body", "answer"),
    [
        (JSON, DOCUMENT, json.dumps(PARTIAL).encode()),
        (PROTOBUF, MESSAGE, field(1, b"\x08\x01" + field(2, b"1 of 4 spans rejected"))),
    ],
)
def test_a_file_with_rejected_spans_is_put_aside(
    collector: Collector,
    watchpost: Watchpost,
    folder: Path,
    content_type: str,
    body: bytes,
    answer: bytes,
) -> None:
    watchpost.replies.append(Reply(200, answer, {"Content-Type": content_type}))
    path = write(folder, "/v1/traces", content_type, body)
    before = path.read_bytes()
    done = collector.run("watch", "--once")
    assert done.returncode == 1
    assert done.stdout.endswith("watch: 1 files, 3 accepted, 1 skipped, 0 left\n")
    assert names(folder) == ["rejected"]
    assert (folder / "rejected" / path.name).read_bytes() == before
    reason = (folder / "rejected" / f"{path.name}.reason").read_text()
    assert reason == "1 of 4 spans rejected\n"


def test_records_of_logs_are_counted_and_metrics_are_not(
    collector: Collector, folder: Path
) -> None:
    logs = b'{"resourceLogs": [{"scopeLogs": [{"logRecords": [{}, {}]}]}]}'
    write(folder, "/v1/logs", JSON, logs)
    assert "1 files, 2 accepted" in collector.run("watch", "--once").stdout
    write(folder, "/v1/metrics", PROTOBUF, MESSAGE)
    assert "1 files, 0 accepted" in collector.run("watch", "--once").stdout


def test_a_warning_is_told_and_the_file_is_removed(
    collector: Collector, watchpost: Watchpost, folder: Path
) -> None:
    said = {"partialSuccess": {"errorMessage": "metrics are not stored"}}
    watchpost.replies.append(json_reply(200, said))
    write(folder, "/v1/metrics", JSON, b"{}")
    done = collector.run("watch", "--once")
    assert (done.returncode, names(folder)) == (0, [])
    assert "metrics are not stored" in done.stderr


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the first line is not JSON"),
        (b"spans\n{}", "the first line is not JSON"),
        (b"[1]\n{}", "the first line is no JSON object"),
        (b'{"path": "/v1/keys"}\n{}', "the path '/v1/keys' is none of"),
        (b'{"path": ["/v1/traces"]}\n{}', "the path ['/v1/traces'] is none of"),
        (b'{"path": "/v1/traces", "content_type": "a\\r\\nX: b"}\n{}', "the content type"),
        (
            b'{"path": "/v1/traces", "content_type": "application/json", "encoding": "br"}\n{}',
            "the encoding 'br' is none of",
        ),
    ],
)
def test_a_file_that_names_no_place_is_poison(
    collector: Collector, watchpost: Watchpost, folder: Path, content: bytes, reason: str
) -> None:
    (folder / "a.jsonl").write_bytes(content)
    done = collector.run("watch", "--once")
    assert (done.returncode, watchpost.requests) == (1, [])
    assert (folder / "poison" / "a.jsonl").read_bytes() == content
    assert (folder / "poison" / "a.jsonl.reason").read_text().startswith(reason)


def test_a_refused_file_is_poison(collector: Collector, watchpost: Watchpost, folder: Path) -> None:
    said = json_reply(400, {"code": 3, "message": "not a trace; see /v1/logs"})
    watchpost.replies.append(said)
    write(folder, "/v1/traces", JSON, b"{}")
    assert collector.run("watch", "--once").returncode == 1
    reason = (folder / "poison" / "otlp-1.jsonl.reason").read_text()
    assert reason == "400 not a trace; see /v1/logs\n"


def test_a_refused_key_removes_nothing(
    collector: Collector, watchpost: Watchpost, folder: Path
) -> None:
    watchpost.replies.append(refusal(403, "otel.ingest_enabled is off"))
    path = write(folder, "/v1/traces", JSON, b"{}")
    done = collector.run("watch", "--once")
    assert (done.returncode, path.exists()) == (3, True)
    assert "otel.ingest_enabled is off" in done.stderr


def test_keep_moves_sent_files(collector: Collector, folder: Path) -> None:
    write(folder, "/v1/traces", JSON, b"{}")
    assert collector.run("watch", "--once", "--keep").returncode == 0
    assert names(folder / "sent") == ["otlp-1.jsonl"]


def test_a_file_that_is_being_written_is_not_sent(
    collector: Collector, watchpost: Watchpost, folder: Path
) -> None:
    path = write(folder, "/v1/traces", JSON, b'{"resourceSpans": [')
    with path.open("ab") as writer:
        done = collector.run("watch", "--once")
        assert (done.returncode, watchpost.requests) == (1, [])
        writer.write(b"]}")
    assert collector.run("watch", "--once").returncode == 0
    [request] = watchpost.to("/v1/traces")
    assert request.packed == b'{"resourceSpans": []}'
