"""Measures how fast transcripts become events, in one process and over HTTP.

    python -m bench.imports [--files 20] [--turns 100] [--runs 5]

Makes files of the transcript of Claude Code in WATCHPOST_SHARED: a session each, the conversation
`turns` times.

convert      one file, over and over in one process: events a second, µs of processor time an event
new          all files, one after the other over one connection: events a second until the last
             answer, and µs of web's processor time an event
again        the same files again, of which nothing is new
"""

import http.client
import json
import os
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path

import click
import psutil

# Lets `python bench/imports.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.deployments import deployed, service_processes
from bench.figures import figures_of, lines_of
from devstack.ports import LOOPBACK
from devstack.up.deployment import Deployment
from shared.intake.imports.assembling import ImportTarget, assemble
from shared.intake.imports.claude import convert
from shared.intake.imports.file import ImportFile
from shared.intake.redaction.rules import Redactor

_PROJECT = Path(__file__).resolve().parents[1]
_NAME = "5b1f0c52-7a3e-4a57-9d0e-2f4c6a1e9b30"
_MIB = 1024 * 1024


def transcript(session: int, turns: int) -> bytes:
    """Returns a file of the session with this number."""
    shared = Path(os.environ.get("WATCHPOST_SHARED") or _PROJECT.parent / "shared")
    path = shared / "data" / "transcripts" / "claude" / "notes-app" / f"{_NAME}.jsonl"
    if not path.exists():
        raise SystemExit(f"no transcript at {path}: set WATCHPOST_SHARED")
    text = path.read_bytes().replace(_NAME.encode(), b"session-%06d" % session)
    return b"".join(
        text.replace(b"-4000-8000-", b"-4000-%04x-" % turn)
        .replace(b"msg_fake", b"msg_%d" % turn)
        .replace(b"toolu_fake", b"toolu_%d" % turn)
        for turn in range(turns)
    )


def conversion(text: bytes, runs: int) -> tuple[int, float]:
    """Returns the events of a file, and the median of the processor seconds of its conversion."""
    target = ImportTarget("bench", "upload", _MIB, 128 * _MIB, None, Redactor(()))  # type: ignore[arg-type] # no traces
    times = []
    events = 0
    for _ in range(runs):
        file = ImportFile(text)
        started = time.process_time()
        events = len(assemble(convert(file.lines(), file), "claude", "", target).batch)
        times.append(time.process_time() - started)
    return events, statistics.median(times)


def importing(deployment: Deployment, files: list[bytes]) -> tuple[int, int, float, float]:
    """Imports files; returns events, those that were new, seconds, web's processor seconds."""
    connection = http.client.HTTPConnection(LOOPBACK, int(deployment.environ["PORT"]), timeout=120)
    headers = {
        "Authorization": f"Bearer {deployment.admin_key}",
        "Content-Type": "application/octet-stream",
    }
    events = accepted = 0
    used, started = _web_seconds(), time.perf_counter()
    for file in files:
        connection.request("POST", "/v1/events/import", file, headers)
        answer = json.loads(connection.getresponse().read())
        events += answer["events"]
        accepted += answer["accepted"]
    took = time.perf_counter() - started
    connection.close()
    return events, accepted, took, _web_seconds() - used


def _web_seconds() -> float:
    used = 0.0
    for pid, command in service_processes().items():
        if "gunicorn" in command:
            with suppress(psutil.Error):
                times = psutil.Process(pid).cpu_times()
                used += times.user + times.system
    return used


def measure(files: int = 20, turns: int = 100, runs: int = 5) -> dict[str, float]:
    """Returns events a second, and µs of processor time an event: of all, or of web."""
    texts = [transcript(session, turns) for session in range(files)]
    events, seconds = conversion(texts[0], runs)
    values = {
        "imports.convert_rate": events / seconds,
        "imports.convert_cost": seconds / events * 1e6,
    }
    with deployed(lambda _: None) as deployment:
        importing(deployment, [transcript(files, turns)])
        for name, is_new in (("new", True), ("again", False)):
            events, accepted, took, used = importing(deployment, texts)
            if accepted != events * is_new:
                raise SystemExit(f"{accepted} of {events} events were new")
            values[f"imports.{name}_rate"] = events / took
            values[f"imports.{name}_cost"] = used / events * 1e6
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--files", default=20, show_default=True)
@click.option("--turns", default=100, show_default=True)
@click.option("--runs", default=5, show_default=True)
def main(files: int, turns: int, runs: int) -> None:
    for line in lines_of(figures_of(measure(files, turns, runs))):
        click.echo(line)


if __name__ == "__main__":
    main()
