"""A file to import: its text, its lines and its name."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from shared.foundation.core.errors import TooLarge
from shared.intake.imports.node import is_json
from shared.intake.ingest.candidates import MAX_EVENTS
from shared.intake.redaction.rules import Redactor

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_IS_UUID = re.compile(_UUID)
_UUID_AT_END = re.compile(_UUID + r"\Z")
_SUFFIXES = re.compile(r"(?:\.(?:jsonl|ndjson|json|gz))+\Z")


class Line(NamedTuple):
    """A line that is not blank; `number` counts from 1, blank ones too.

    `origin` is the line as it was sent, to be hashed and never kept.
    """

    number: int
    text: bytes
    origin: bytes

    def redacted(self, redactor: Redactor) -> "Line":
        """Returns the line without the values of redacted keys."""
        return self._replace(text=redacted(self.text, redactor))


@dataclass(frozen=True)
class ImportFile:
    """The text of a file, unpacked, and the last two parts of its path, joined by `/`, if known.

    `started_us` is the moment at which its first event happened, if the sender knows it.
    """

    text: bytes
    path: str = ""
    started_us: int | None = None

    @property
    def stem(self) -> str:
        """Returns the file's name without its suffixes."""
        return _SUFFIXES.sub("", self.path.rpartition("/")[2])

    @property
    def uuid(self) -> str:
        """Returns the file's name if it is a UUID, else ""."""
        return self.stem if _IS_UUID.fullmatch(self.stem) else ""

    @property
    def last_uuid(self) -> str:
        """Returns the UUID with which the file's name ends, or ""."""
        found = _UUID_AT_END.search(self.stem)
        return found[0] if found else ""

    def lines(self) -> list[Line]:
        """Returns the lines that are not blank.

        Raises `TooLarge` for more than `MAX_EVENTS` lines.
        """
        texts = self.text.split(b"\n", MAX_EVENTS + 1)
        if len(texts) > MAX_EVENTS + 1:
            raise TooLarge(f"the file has more than {MAX_EVENTS} lines")
        stripped = map(bytes.strip, texts)
        return [Line(number, text, text) for number, text in enumerate(stripped, 1) if text]

    def is_cut(self, last: Line) -> bool:
        """Returns whether the last line is still being written: it has no end and is not JSON."""
        return not self.text.endswith(b"\n") and not is_json(last.text)


def redacted(text: bytes, redactor: Redactor) -> bytes:
    """Returns JSON without the values of redacted keys, and any other text as it is.

    Formats give values other names in events than they have in files, so this comes first.
    """
    hidden = redactor.redact(text) if redactor else text
    return hidden if hidden is text or is_json(text) else text


def last_two_parts(path: str) -> str:
    """Returns the last two parts of a path of any system, joined by `/`."""
    return "/".join([part for part in re.split(r"[/\\]", path) if part][-2:])
