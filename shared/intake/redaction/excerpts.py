"""The beginning of a line that was not accepted, without the values of redacted keys."""

import msgspec

from shared.intake.redaction.rules import REDACTED, Redactor

MAX_CHARS = 200
# Enough for the excerpt, whatever is redacted in it.
_READ_BYTES = 4096


def excerpt(line: bytes, redactor: Redactor) -> str:
    """Returns at most `MAX_CHARS` characters of a line that may be anything.

    Values are found by the marks around them. Where a line is not JSON, marks may be missing, so a
    line that names a redacted key is not shown at all.
    """
    text = line
    if redactor:
        if _is_json(line):
            text = redactor.redact(line)
        elif redactor.is_named_in(line[:_READ_BYTES]):
            text = REDACTED.strip(b'"')
    return text[:_READ_BYTES].decode(errors="replace")[:MAX_CHARS]


def excerpt_of_record(text: str, redactor: Redactor) -> str:
    """Returns at most `MAX_CHARS` characters of a record of OpenTelemetry.

    Its keys are values in JSON, so a record that names a redacted key is not shown at all.
    """
    if redactor and redactor.is_named_in(text.encode(errors="replace")):
        return REDACTED.strip(b'"').decode()
    return text[:MAX_CHARS]


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
