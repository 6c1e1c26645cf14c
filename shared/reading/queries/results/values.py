"""Turns single values of ClickHouse into JSON values (docs/use/queries.md has the table)."""

import math
import struct
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import msgspec

from shared.foundation.core.clock import format_us

# Many readers of JSON use doubles for numbers.
_SAFE = 2**53


def integer(value: int) -> int | str:
    """Returns a string for a number of more than 53 bits."""
    return value if -_SAFE <= value <= _SAFE else str(value)


def wide_integer(*, signed: bool) -> Callable[[bytes], int | str]:
    """Returns a reader that applies `integer` to the bytes of a (U)Int128 or (U)Int256."""
    return lambda data: integer(int.from_bytes(data, "little", signed=signed))


def number(value: float) -> float | None:
    """Returns null for numbers that are not finite."""
    return value if math.isfinite(value) else None


def bfloat(data: bytes) -> float | None:
    """Applies `number` to the two bytes of a BFloat16, the upper half of a Float32."""
    return number(struct.unpack("<f", b"\0\0" + data)[0])


def decimal(scale: int) -> Callable[[bytes], str]:
    """Formats a decimal as text, with all digits after the point and no exponent."""

    def convert(data: bytes) -> str:
        value = int.from_bytes(data, "little", signed=True)
        digits = tuple(map(int, str(abs(value))))
        return f"{Decimal((int(value < 0), digits, -scale)):f}"

    return convert


def moment(ticks_per_second: int) -> Callable[[int], str | None]:
    """Formats RFC 3339 in UTC with microseconds; null for years out of range."""

    def convert(ticks: int) -> str | None:
        try:
            return format_us(ticks * 1_000_000 // ticks_per_second)
        except OverflowError:
            return None

    return convert


def day(days: int) -> str:
    """Formats days since 1970 as YYYY-MM-DD; ClickHouse keeps them between 1900 and 2299."""
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()


def clock(scale: int) -> Callable[[int], str]:
    """Formats Time and Time64 as ClickHouse does; they may be negative or longer than a day."""

    def convert(ticks: int) -> str:
        seconds, rest = divmod(abs(ticks), 10**scale)
        text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        fraction = f".{rest:0{scale}d}" if scale else ""
        return f"{'-' if ticks < 0 else ''}{text}{fraction}"

    return convert


def uuid(data: bytes) -> str:
    """Formats a UUID, which ClickHouse keeps as two integers, each with its lowest byte first."""
    return str(UUID(bytes=data[7::-1] + data[:7:-1]))


def text(data: bytes) -> str:
    """Decodes UTF-8; invalid bytes become U+FFFD."""
    return data.decode("utf-8", "replace")


def key(value: object) -> str:
    """Returns a key of a map as JSON requires it: as text."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
