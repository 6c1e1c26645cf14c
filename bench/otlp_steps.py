"""Shows where OTLP spends its processor time, in microseconds a span: `python -m bench.otlp_steps`.

    WATCHPOST_SHARED=/path/to/shared python -m bench.otlp_steps [--requests 10]

Each step runs alone in one process without servers, on requests as in `bench.otlp`; the best of
five counts. So the round trips to Redis, the insert and the answer are missing: `bench.otlp` has
the processor time of all programs.
"""

import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

# Lets `python bench/otlp_steps.py` find its neighbours, as `python -m bench.otlp_steps` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import figures_of, lines_of
from bench.otlp import COPIES
from bench.spans import recorded_traces, request_of, spans_in
from shared.intake.ingest.batch import Batch, decode_batch, encode_batch, entries_of
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.intake.otlp import cutting
from shared.intake.otlp.assignment.assign import AssignedItem, Rules, assign
from shared.intake.otlp.assignment.items import Item
from shared.intake.otlp.assignment.output import Output, Writer
from shared.intake.otlp.assignment.sessions import Session, propose
from shared.intake.otlp.receipts import receipt_of
from shared.intake.otlp.records import Records, decode_records
from shared.intake.otlp.wire.reading import PROTOBUF, Reading
from shared.intake.otlp.wire.signals import TRACES
from shared.intake.receipts.origin import Origin
from shared.intake.receipts.receipt import digest_of
from shared.intake.redaction.rules import Redactor

S = TypeVar("S")
T = TypeVar("T")

_ORG = "0198f8c2-0000-7000-8000-000000000000"
_RULES = Rules("in_agent_traces", 5000)
_REDACTOR = Redactor(())
_MAX_EVENT_BYTES = 1024 * 1024
_ROUNDS = 5


def measure(requests: int = 10) -> dict[str, float]:
    """Returns the µs a span of each step, for so many requests."""
    recorded = recorded_traces()
    spans = len(list(spans_in(recorded))) * COPIES * requests
    bodies = [
        gzip.compress(request_of(recorded, COPIES, number).SerializeToString())
        for number in range(requests)
    ]
    values: dict[str, float] = {}

    def timed(name: str, step: Callable[[], T]) -> T:
        return timed_with(name, lambda: None, lambda _: step())

    def timed_with(name: str, prepare: Callable[[], S], step: Callable[[S], T]) -> T:
        seconds = []
        for _ in range(_ROUNDS):
            prepared = prepare()
            started = time.process_time()
            result = step(prepared)
            seconds.append(time.process_time() - started)
        values[f"otlp_steps.{name}"] = min(seconds) / spans * 1e6
        return result

    unpacked = timed("web_unpack", lambda: list(map(gzip.decompress, bodies)))
    readings = timed("web_read", lambda: list(map(_read, unpacked)))
    timed("web_receipt", lambda: [_receipt(*one) for one in zip(readings, unpacked, strict=True)])
    entries = timed_with(
        "web_cut",
        # Cutting moves the records, so each round needs its own.
        lambda: [_read(body).records for body in unpacked],
        lambda read: [data for one in read for _, data in cutting.entries_of(one)],
    )
    records = timed("worker_decode", lambda: list(map(decode_records, entries)))
    traces = timed("worker_names", lambda: _traces(records))
    assigned = timed("worker_assign", lambda: list(map(_assigned, traces)))
    output = timed("worker_events", lambda: _output(assigned))
    stored = timed("worker_encode_events", lambda: list(map(encode_batch, entries_of(output))))
    batches = timed("worker_decode_events", lambda: list(map(decode_batch, stored)))
    timed(
        "worker_columns",
        lambda: [columns_of(_ORG, one, IngestRules(lambda _: 200_000)) for one in batches],
    )
    return values | {"otlp_steps.together": sum(values.values())}


def _read(body: bytes) -> Reading:
    reading = Reading(TRACES, PROTOBUF, time.time_ns())
    for _ in reading.steps(body):
        pass
    return reading


def _receipt(reading: Reading, body: bytes) -> object:
    return receipt_of(Origin("otlp_http"), TRACES, reading, digest_of(body), _REDACTOR)


def _traces(records: list[Records]) -> list[list[Item]]:
    traces: dict[str, list[Item]] = {}
    for one in records:
        for span in one.spans:
            traces.setdefault(span.trace_id, []).append(Item(span, one, one.received_ms))
    return list(traces.values())


def _assigned(items: list[Item]) -> list[AssignedItem]:
    now_ms = items[0].since_ms
    proposal = propose(items[0].record.trace_id, items, _RULES.session_wait_ms, now_ms)
    if proposal is None:
        raise SystemExit("a recorded trace has no root")
    has_kinds = any(item.kind != "other" for item in items)
    session = Session(proposal.id, proposal.is_named, has_kinds)
    outcome = assign(items, session, {}, _RULES, now_ms)
    if outcome.waiting:
        raise SystemExit("a recorded span waits for others")
    return outcome.assigned


def _output(assigned: list[list[AssignedItem]]) -> Batch:
    writer, output = Writer(_ORG, _REDACTOR, _MAX_EVENT_BYTES, lambda: None), Output()
    for records in assigned:
        writer.write(records, output)
    return output.batch


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--requests", default=10, show_default=True, help="number of requests")
def main(requests: int) -> None:
    for line in lines_of(figures_of(measure(requests))):
        click.echo(line)


if __name__ == "__main__":
    main()
