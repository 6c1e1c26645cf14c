"""Rules that hold for files of every format, whatever they contain."""

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from shared.foundation.core.errors import Invalid, TooLarge
from shared.intake.imports import atif, node
from shared.intake.imports.file import ImportFile, last_two_parts
from shared.intake.imports.formats import NAMES, format_of
from tests.shared.intake.imports import test_atif, test_otlp
from tests.support.transcripts import CLAUDE, EVERY, TARGET, lines_of, told, transcript

EVENT = {"session_id": "s", "timestamp": "2026-11-18T09:00:00Z", "type": "note"}


@pytest.mark.parametrize("path", EVERY)
def test_events_depend_on_no_later_line(path: str) -> None:
    """Every beginning of a file has the first events of the whole file, in the same order."""
    text = transcript(path)
    whole = told(text, path).converted.batch
    lines = text.splitlines(keepends=True)
    for count in range(2, len(lines)):
        part = told(b"".join(lines[:count]), path).converted.batch
        assert part.ids == whole.ids[: len(part)]
        assert part.payloads == whole.payloads[: len(part)]


@pytest.mark.parametrize("path", EVERY)
def test_ids_are_those_of_the_lines_and_not_of_the_file(path: str) -> None:
    text = transcript(path)
    whole = told(text, path).converted.batch
    assert len(set(whole.ids)) == len(whole)
    assert told(text, f"elsewhere/{path.rpartition('/')[2]}").converted.batch.ids == whole.ids
    # A line before the first moves all others.
    assert told(b'{"type": "summary"}\n' + text, path).converted.batch.ids == whole.ids


@pytest.mark.parametrize("path", EVERY)
def test_a_cut_anywhere_holds_the_last_line_back(path: str) -> None:
    text = transcript(path)
    whole = told(text, path).converted.batch.ids
    for cut in range(len(text) // 2, len(text), 97):
        part = told(text[:cut], path)
        assert part.converted.skipped == 0
        assert part.converted.batch.ids == whole[: len(part.events)]


def mutations(value: Any) -> Iterator[Any]:
    """Yields the value with one part of it, at any depth, replaced by each kind of JSON."""
    yield from (None, True, 7, -1, 1e300, "", "x", [], [1], {}, {"x": 1}, [[]], [{}])
    if isinstance(value, dict):
        for key, below in value.items():
            yield {name: one for name, one in value.items() if name != key}
            for changed in mutations(below):
                yield {**value, key: changed}
    if isinstance(value, list):
        for place, below in enumerate(value):
            for changed in mutations(below):
                yield [*value[:place], changed, *value[place + 1 :]]


@pytest.mark.parametrize(
    ("path", "place"),
    [(path, place) for path in EVERY for place in range(transcript(path).count(b"\n"))],
)
def test_wrong_types_anywhere_raise_nothing(path: str, place: int) -> None:
    """A wrong line may be skipped. The lines before it are read as always."""
    lines = transcript(path).splitlines(keepends=True)
    form = "claude" if path.startswith("claude") else "codex"
    before = told(b"".join(lines[:place]), path, form).converted.batch.ids
    for changed in mutations(json.loads(lines[place])):
        text = b"".join([*lines[:place], lines_of(changed), *lines[place + 1 : place + 3]])
        found = told(text, path, form)
        assert found.converted.batch.ids[: len(before)] == before


def test_wrong_types_anywhere_in_a_request_raise_nothing() -> None:
    for changed in mutations(test_otlp.request(test_otlp.AGENT, test_otlp.MODEL)):
        assert len(told(lines_of(changed), form="otlp").events) <= 4


def test_wrong_types_anywhere_in_a_document_raise_nothing() -> None:
    for changed in mutations(test_atif.document()):
        found = told(json.dumps(changed).encode(), "a/b.json", "atif", started_us=10**15)
        assert len(found.events) <= 8


@pytest.mark.parametrize("form", [name for name in NAMES if name != "auto"])
def test_noise_is_skipped(form: str) -> None:
    chosen = random.Random(1)
    pool = b'{}[]",:\\ \n\xff\x00u0d8tesimagnulr123'
    for _ in range(300):
        text = bytes(chosen.choices(pool, k=chosen.randrange(200)))
        assert told(text, "", form).events == []


def test_every_format_is_known_by_its_lines() -> None:
    assert (
        format_of(ImportFile(lines_of({"type": "summary"}) + transcript(CLAUDE)), "auto").name
        == "claude"
    )
    assert format_of(ImportFile(lines_of(test_atif.document())), "auto").name == "atif"
    assert format_of(ImportFile(lines_of({}, test_otlp.logs())), "auto").name == "otlp"
    pretty = json.dumps(test_atif.document(), indent=1).encode()
    assert format_of(ImportFile(pretty), "auto").name == "atif"
    assert format_of(ImportFile(b"noise\n" + lines_of(EVENT)), "auto").name == "agenteye"
    assert format_of(ImportFile(b""), "failproofai").name == "agenteye"


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"{}\n{}", b"{", b"[1]", b'{"sessionId": "s"}', b"\xff"]
)
def test_an_unknown_format_is_refused(text: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        format_of(ImportFile(text), "auto")
    assert refused.value.code == "unknown_format"
    assert list(refused.value.fields) == ["format"]


def test_events_of_the_api_keep_their_bytes() -> None:
    line = b'  {"session_id":"s" ,"timestamp":"2026-11-18T09:00:00Z","type":"note"}'
    named = lines_of({**EVENT, "environment": "default"})
    found = told(line + b"\r\n\n" + named + b'{"session_id":')
    batch = found.converted.batch
    assert batch.payloads == [line.strip(), named.strip()]
    assert batch.environments == ["upload", "default"]
    assert (found.converted.lines, found.converted.held_back) == (3, 1)
    bad = told(lines_of(EVENT, {"session_id": "s", "timestamp": "x", "type": "y"}))
    assert [(one.line, one.error) for one in bad.converted.errors] == [
        (2, "timestamp is not an RFC 3339 time")
    ]


def test_what_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "MAX_COMMAS", 3)
    refused = told(json.dumps(test_atif.document()).encode() + b"\n", form="atif").converted
    assert [error.error for error in refused.errors] == ["has too many values"]
    monkeypatch.undo()
    monkeypatch.setattr(atif, "MAX_STEPS", 3)
    with pytest.raises(TooLarge):
        told(json.dumps(test_atif.document()).encode())
    few = msgspec.structs.replace(TARGET, max_bytes=1000)
    file = ImportFile(transcript(CLAUDE))
    with pytest.raises(TooLarge):
        format_of(file, "claude").read(file, few)


def test_only_the_end_of_a_path_counts() -> None:
    assert last_two_parts("/srv/projects/a.jsonl") == "projects/a.jsonl"
    assert last_two_parts("C:\\me\\projects\\a.jsonl") == "projects/a.jsonl"
    assert last_two_parts("a.jsonl") == "a.jsonl"
    assert last_two_parts("") == ""
