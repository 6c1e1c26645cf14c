"""The formats of files: a row each, and a module each."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from shared.foundation.core.errors import Invalid
from shared.intake.imports import agenteye, atif, claude, codex, otlp
from shared.intake.imports.assembling import Conversion, ImportTarget, assemble
from shared.intake.imports.file import ImportFile, Line, redacted
from shared.intake.imports.node import Node, read_document
from shared.intake.imports.outcomes import BadLine, HeldLines, Outcome
from shared.intake.ingest.envelope import EventRejected
from shared.intake.redaction.excerpts import excerpt
from shared.intake.redaction.rules import Redactor

_OfLines = Callable[[Iterable[Line], ImportFile], Iterator[Outcome]]
_OfDocument = Callable[[Node, ImportFile], Iterator[Outcome]]


class ImportFormat(NamedTuple):
    """A format: how a line of it (or the document) is known, and how a file of it is read.

    Sessions that came in another way as well are not imported, except with `adds_always`. `excerpt`
    makes the beginning of a bad line, without the values of redacted keys.
    """

    name: str
    knows: Callable[[Node], bool]
    read: Callable[[ImportFile, ImportTarget], Conversion]
    adds_always: bool = False
    excerpt: Callable[[bytes, Redactor], str] = excerpt


def _by_lines(name: str, convert: _OfLines) -> Callable[[ImportFile, ImportTarget], Conversion]:
    def read(file: ImportFile, target: ImportTarget) -> Conversion:
        lines = file.lines()
        held = 1 if lines and file.is_cut(lines[-1]) else 0
        whole = [line.redacted(target.redactor) for line in lines[: len(lines) - held]]
        converted = assemble(convert(whole, file), name, file.path, target)
        converted.lines = len(lines)
        converted.held_back += held
        return converted

    return read


def _as_document(
    name: str, convert: _OfDocument
) -> Callable[[ImportFile, ImportTarget], Conversion]:
    def outcomes(file: ImportFile, redactor: Redactor) -> Iterator[Outcome]:
        try:
            document = read_document(redacted(file.text.strip(), redactor))
        except EventRejected as error:
            yield BadLine(1, str(error)) if file.text.endswith(b"\n") else HeldLines(1)
            return
        yield from convert(document, file)

    def read(file: ImportFile, target: ImportTarget) -> Conversion:
        lines: set[int] = set()
        found = outcomes(file, target.redactor) if file.text.strip() else iter(())
        said = _noting(found, lines)
        converted = assemble(said, name, file.path, target)
        converted.lines = len(lines) + converted.held_back
        return converted

    return read


def _noting(outcomes: Iterator[Outcome], lines: set[int]) -> Iterator[Outcome]:
    for outcome in outcomes:
        if not isinstance(outcome, HeldLines):
            lines.add(outcome.line)
        yield outcome


def _no_excerpt(_line: bytes, _redactor: Redactor) -> str:
    """The numbers of a document are those of its steps, and no lines of the file."""
    return ""


FORMATS = (
    ImportFormat("agenteye", agenteye.knows, agenteye.read, adds_always=True),
    ImportFormat("atif", atif.knows, _as_document("atif", atif.convert), excerpt=_no_excerpt),
    ImportFormat(otlp.NAME, otlp.knows, otlp.read, excerpt=otlp.excerpt),
    ImportFormat("claude", claude.knows, _by_lines("claude", claude.convert)),
    ImportFormat("codex", codex.knows, _by_lines("codex", codex.convert)),
)
AUTO = "auto"
_BY_NAME = {one.name: one for one in FORMATS} | {"failproofai": FORMATS[0]}
NAMES = (AUTO, *_BY_NAME)


def format_of(file: ImportFile, name: str) -> ImportFormat:
    """Returns the format of this name, for `auto` that of the first line of a known format.

    Raises `Invalid` if no line is.
    """
    if name != AUTO:
        return _BY_NAME[name]
    lines = file.lines()
    for line in lines:
        found = _knowing(line.text)
        if found is not None:
            return found
    found = _knowing(file.text.strip()) if len(lines) > 1 else None
    if found is None:
        raise Invalid(
            "the format of the file is not known: name it with the parameter format",
            fields={"format": ["the file has no line of a known format"]},
            code="unknown_format",
        )
    return found


def _knowing(text: bytes) -> ImportFormat | None:
    try:
        node = read_document(text)
    except EventRejected:
        return None
    return next((one for one in FORMATS if one.knows(node)), None)
