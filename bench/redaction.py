"""Measures the cost of redaction while events are decoded, as a ratio to decoding without it.

    python -m bench.redaction [--runs 9]

Decodes the airline recording over and over in one process, the cases in turn:

absent      the keys are in no event, of 1, 6, 20 and 500 keys (the setting's maximum)
escaped     one key, in no event; every event has a `\\u` escape, of é and of a letter
present     one key, and every event has it once: as a field, and inside a string of JSON text

POST /events as a whole takes about twice the time of decoding.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

# Lets `python bench/redaction.py` find its neighbours, as `python -m` does.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.airline import read_events
from bench.figures import figures_of, lines_of
from shared.intake.ingest.decode import decode_events
from shared.intake.redaction.rules import Redactor

Redact = Callable[[bytes], bytes]


def seconds(lines: list[bytes], redact: Redact | None) -> float:
    """Returns the seconds of one pass."""
    started = time.process_time()
    decoded = decode_events(lines, "bench", 1024 * 1024, redact)
    took = time.process_time() - started
    if decoded.skipped:
        raise SystemExit(f"skipped {decoded.skipped} events: {decoded.errors}")
    return took


def cases(lines: list[bytes]) -> dict[str, tuple[list[bytes], list[str]]]:
    """Returns lines and listed keys by case."""

    def with_field(field: bytes) -> list[bytes]:
        return [line[:-1] + b"," + field + b"}" for line in lines]

    many = [f"secret_{number}" for number in range(500)]
    return {
        "absent_1_key": (lines, ["password"]),
        "absent_6_keys": (lines, many[:6]),
        "absent_20_keys": (lines, many[:20]),
        "absent_500_keys": (lines, many),
        "escaped_é": (with_field(rb'"note":"caf\u00e9"'), ["password"]),
        "escaped_letter": (with_field(rb'"note":"caf\u0065"'), ["password"]),
        "present": (with_field(b'"password":"hush"'), ["password"]),
        "present_in_a_text": (with_field(rb'"out":"{\"password\":\"hush\"}"'), ["password"]),
    }


def measure(runs: int = 9) -> dict[str, float]:
    """Returns the ratio to decoding without keys and the µs more of an event, as medians."""
    values: dict[str, float] = {}
    for name, (sent, keys) in cases(read_events()).items():
        redactor = Redactor(keys)
        pairs = [(seconds(sent, None), seconds(sent, redactor.redact)) for _ in range(runs)]
        extra = statistics.median(redacted - plain for plain, redacted in pairs) / len(sent)
        values |= {
            f"redaction.{name}_ratio": statistics.median(after / plain for plain, after in pairs),
            f"redaction.{name}_more": extra * 1e6,
        }
    return values


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--runs", default=9, show_default=True)
def main(runs: int) -> None:
    for line in lines_of(figures_of(measure(runs))):
        click.echo(line)


if __name__ == "__main__":
    main()
