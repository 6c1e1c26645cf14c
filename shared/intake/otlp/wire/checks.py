"""Checks of single records, and the sentence in which a sender reads why some were rejected."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

from shared.intake.ingest.batch import MAX_FUTURE

# Of values inside values.
MAX_DEPTH = 64
MAX_REASONS = 20

_OLDEST_NS = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
_FUTURE_NS = MAX_FUTURE // timedelta(microseconds=1) * 1000
_HEX = re.compile(r"[0-9a-f]*")
_SEVERITIES = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


class Rejected(Exception):
    """A record, or its resource or scope, cannot be accepted; the message is for the sender."""


NOT_DECODED = "it does not decode"
NOT_UTF_8 = "a string is not UTF-8"
TOO_DEEP = f"a value is nested deeper than {MAX_DEPTH} levels"


def checked_id(name: str, digits: str, size: int) -> str:
    """Returns an id of `size` bytes, which is given as hex digits in lower case.

    Raises `Rejected`, also for zeros.
    """
    if len(digits) != size * 2:
        raise Rejected(f"{name} is not {size} bytes")
    if not digits.strip("0"):
        raise Rejected(f"{name} is zeros")
    if _HEX.fullmatch(digits) is None:
        raise Rejected(f"{name} is not hexadecimal")
    return digits


def optional_id(name: str, digits: str, size: int) -> str:
    """Returns an id like `checked_id`, or "" if there is none."""
    return checked_id(name, digits, size) if digits else ""


def parent_of(digits: str) -> str:
    """Returns the span id of a parent, or "" for none, which some exporters write as zeros."""
    return optional_id("parent span id", digits if digits.strip("0") else "", 8)


def checked_time(name: str, time_ns: int, now_ns: int) -> int:
    """Returns a time in nanoseconds since the epoch. Raises `Rejected` if it cannot be right."""
    if time_ns == 0:
        raise Rejected(f"{name} is missing")
    if time_ns < _OLDEST_NS:
        raise Rejected(f"{name} is before 2000")
    if time_ns > now_ns + _FUTURE_NS:
        raise Rejected(f"{name} is more than 24 hours ahead")
    return time_ns


def severity_of(text: str, number: int) -> str:
    """Returns the severity of a log record: its text, else the name of its number (1 to 24)."""
    return text or (_SEVERITIES[(number - 1) // 4] if 1 <= number <= 24 else "")


class Tally:
    """The records of a request, and how many of them were rejected for which reason."""

    def __init__(self) -> None:
        self.total = 0
        self.reasons: Counter[str] = Counter()

    @property
    def rejected(self) -> int:
        """The number of rejected records."""
        return self.reasons.total()

    def sentence(self, noun: str) -> str:
        """Returns the reasons for the sender, the most frequent first; "" if nothing was bad."""
        if not self.reasons:
            return ""
        listed = (f"{reason} ({count})" for reason, count in self.reasons.most_common(MAX_REASONS))
        return f"{self.rejected} of {self.total} {noun} rejected: {', '.join(listed)}"
