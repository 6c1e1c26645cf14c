"""Generated requests that no honest exporter sends, each with what must become of it."""

import gzip
import json
import random
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import zstandard
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from tests.support.otlp import (
    SECOND_NS,
    encoded,
    framed,
    make_span,
    size,
    text_attribute,
    traces,
)

YEAR_NS = 365 * 86_400 * SECOND_NS
EACH = 28
_MARK = "broken-string"
_LIMIT = 20 * 1024 * 1024


@dataclass
class Case:
    """A request: the statuses that are right, and the names of spans that must (not) be kept."""

    form: str
    body: bytes
    statuses: set[int] = field(default_factory=lambda: {200})
    kept: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    encoding: str = ""


Family = Callable[[random.Random], Iterator[Case]]


def _good(number: int) -> Span:
    return make_span(number, name=f"good {number}")


def _beside(noise: random.Random, bad: Span, *, is_bad: bool) -> Case:
    """Returns a request with the span between two good ones."""
    form = noise.choice((PROTOBUF, JSON))
    body = encoded(traces(_good(1), bad, _good(2)), form)
    names = {"good 1", "good 2"}
    if is_bad:
        return Case(form, body, kept=names, dropped={bad.name})
    return Case(form, body, kept=names | {bad.name})


def truncated(noise: random.Random) -> Iterator[Case]:
    """Bodies that end too early."""
    while True:
        form = noise.choice((PROTOBUF, JSON))
        body = encoded(traces(*map(_good, range(1, 4))), form)
        # Protobuf cannot tell a message that ends between two fields from a whole one.
        yield Case(form, body[: noise.randrange(1, len(body))], {200, 400})


def mutated(noise: random.Random) -> Iterator[Case]:
    """Bodies with some bytes changed."""
    while True:
        form = noise.choice((PROTOBUF, JSON))
        body = bytearray(encoded(traces(*map(_good, range(1, 4))), form))
        for _ in range(noise.randrange(1, 6)):
            body[noise.randrange(len(body))] = noise.randrange(256)
        yield Case(form, bytes(body), {200, 400})


def nested(noise: random.Random) -> Iterator[Case]:
    """A value in values in values, up to 5,000 levels, beside good spans."""
    while True:
        levels = noise.choice((1, 63, 64, 65, 66, 200, 1000, 5000))
        inner = b"\x0a\x01x"
        for _ in range(levels):
            if noise.random() < 0.5:
                inner = b"\x0a" + size(inner) + inner
                inner = b"\x2a" + size(inner) + inner
            else:
                inner = b"\x0a\x01k\x12" + size(inner) + inner
                inner = b"\x0a" + size(inner) + inner
                inner = b"\x32" + size(inner) + inner
        attribute = b"\x0a\x01a\x12" + size(inner) + inner
        span = make_span(3, name="deep").SerializeToString()
        span += b"\x4a" + size(attribute) + attribute
        body = framed(_good(1).SerializeToString(), span, _good(2).SerializeToString())
        good = {"good 1", "good 2"}
        if levels <= 64:
            yield Case(PROTOBUF, body, kept=good | {"deep"})
        else:
            yield Case(PROTOBUF, body, kept=good, dropped={"deep"})


def huge(noise: random.Random) -> Iterator[Case]:
    """Large texts and bytes, up to what one request may have."""
    while True:
        length = noise.choice((100_000, 1_000_000, 5_000_000))
        span = make_span(3, name="huge")
        if noise.random() < 0.5:
            span.attributes.append(text_attribute("a", "x" * length))
        else:
            span.attributes.add(key="a").value.bytes_value = bytes(length)
        yield _beside(noise, span, is_bad=False)


def wrong_types(noise: random.Random) -> Iterator[Case]:
    """A field of a span in another wire format, which makes it an unknown field."""
    values = {0: b"\x05", 1: struct.pack("<d", 1.5), 2: b"\x03abc", 5: b"\0\1\2\3"}
    while True:
        number, form = noise.randrange(1, 16), noise.choice(list(values))
        odd = make_span(3, name="odd").SerializeToString() + bytes([number << 3 | form])
        body = framed(
            _good(1).SerializeToString(), odd + values[form], _good(2).SerializeToString()
        )
        yield Case(PROTOBUF, body, kept={"good 1", "good 2"})


def bad_text(noise: random.Random) -> Iterator[Case]:
    """A text that is not UTF-8, anywhere in a span."""
    places: list[Callable[[Span], Any]] = [
        lambda span: setattr(span, "trace_state", _MARK),
        lambda span: span.attributes.append(text_attribute("k", _MARK)),
        lambda span: span.attributes.append(text_attribute(_MARK, "v")),
        lambda span: span.attributes.add(key="k").value.kvlist_value.values.append(
            text_attribute("k", _MARK)
        ),
        lambda span: span.events.add(name=_MARK),
        lambda span: span.events.add().attributes.append(text_attribute("k", _MARK)),
        lambda span: span.links.add(trace_state=_MARK),
        lambda span: span.links.add().attributes.append(text_attribute(_MARK, "v")),
        lambda span: setattr(span.status, "message", _MARK),
    ]
    while True:
        span = make_span(3, name="bad text")
        noise.choice(places)(span)
        case = _beside(noise, span, is_bad=True)
        broken = noise.choice((b"\xff", b"\xc0", b"\xed\xa0\x80", b"\xf5"))
        broken = broken.ljust(len(_MARK), b"x")
        case.body = case.body.replace(_MARK.encode(), broken)
        yield case


def ids(noise: random.Random) -> Iterator[Case]:
    """Ids of any length, and zeros."""
    while True:
        name, right = noise.choice((("trace_id", 16), ("span_id", 8), ("parent_span_id", 8)))
        length = noise.choice((0, 1, 7, 8, 9, 15, 16, 17, 40))
        value = bytes(length) if noise.random() < 0.2 else bytes([7] * length)
        is_good = length == right and any(value)
        if name == "parent_span_id":
            is_good = is_good or not any(value)
        span = make_span(3, name="odd id", **{name: value})
        yield _beside(noise, span, is_bad=not is_good)


def bombs(_noise: random.Random) -> Iterator[Case]:
    """Small bodies that unpack into more than a request may have."""
    megabyte = gzip.compress(bytes(2**20))
    packed = [
        ("gzip", gzip.compress(bytes(_LIMIT + 1))),
        ("gzip", megabyte * 300),
        ("zstd", zstandard.compress(bytes(_LIMIT + 1))),
        ("zstd", zstandard.compress(bytes(100_000_000))),
    ]
    for encoding, body in cycle(packed):
        yield Case(PROTOBUF, body, {413}, encoding=encoding)
        yield Case(JSON, body, {413}, encoding=encoding)


def attributes(noise: random.Random) -> Iterator[Case]:
    """10,000 attributes, some of them twice."""
    span = make_span(3, name="wide")
    span.attributes.extend(
        text_attribute(f"k{noise.randrange(20_000)}", "v") for _ in range(10_000)
    )
    yield from cycle([_beside(noise, span, is_bad=False) for _ in range(4)])


def values(noise: random.Random) -> Iterator[Case]:
    """Values of every type, in each other."""
    while True:
        span = make_span(3, name="values")
        for number in range(20):
            _fill(noise, span.attributes.add(key=f"k{number}").value, 4)
        yield _beside(noise, span, is_bad=False)


def _fill(noise: random.Random, value: AnyValue, depth: int) -> None:
    kind = noise.randrange(8 if depth else 6)
    if kind == 0:
        value.string_value = noise.choice(("", "ü", "\0", "\U0001f600", "x" * 300))
    elif kind == 1:
        value.int_value = noise.choice((0, 1, -1, 2**63 - 1, -(2**63)))
    elif kind == 2:
        value.double_value = noise.choice((0.0, -0.0, 1e308, 5e-324, 0.1))
    elif kind == 3:
        value.bool_value = noise.random() < 0.5
    elif kind == 4:
        value.bytes_value = noise.randbytes(noise.randrange(20))
    elif kind == 6:
        value.array_value.SetInParent()
        for _ in range(noise.randrange(4)):
            _fill(noise, value.array_value.values.add(), depth - 1)
    elif kind == 7:
        value.kvlist_value.SetInParent()
        for number in range(noise.randrange(4)):
            _fill(noise, value.kvlist_value.values.add(key=f"k{number}").value, depth - 1)


def clocks(noise: random.Random) -> Iterator[Case]:
    """Clocks that are off by years."""
    while True:
        now = time.time_ns()
        years = noise.choice((-56, -40, -26, -10, -1, 0, 1, 10, 100, 500))
        start = max(0, now + years * YEAR_NS)
        span = make_span(3, name="clock", start_time_unix_nano=start)
        span.end_time_unix_nano = noise.choice((0, 1, now, 2**64 - 1))
        yield _beside(noise, span, is_bad=not -26 <= years <= 0)


def odd_json(noise: random.Random) -> Iterator[Case]:
    """A field of a span in JSON that is of any other type."""
    odd: list[Any] = [None, 5, -1, 1.5, True, "", "x", [], {}, [[]], {"a": 1}, 10**30]
    while True:
        document = json.loads(encoded(traces(_good(1), make_span(3), _good(2)), JSON))
        span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][1]
        span[noise.choice([*span, "events", "links", "status", "traceState"])] = noise.choice(odd)
        yield Case(JSON, json.dumps(document).encode(), kept={"good 1", "good 2"})


FAMILIES: tuple[Family, ...] = (
    truncated,
    mutated,
    nested,
    huge,
    wrong_types,
    bad_text,
    ids,
    bombs,
    attributes,
    values,
    clocks,
    odd_json,
)
