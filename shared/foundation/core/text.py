"""Text for people and for PostgreSQL: numbers, durations, and text from events made storable."""

import re

# Matches escapes one after the other, so that an escaped backslash never starts one. Group 1 is a
# surrogate without its other half.
_ESCAPE = re.compile(
    rb"\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u(d[89a-f][0-9a-f]{2})|.)",
    re.IGNORECASE | re.DOTALL,
)


def number(value: float) -> str:
    """Formats a number for a sentence: whole numbers in full, others with six digits.

    `1234567`, `0.416667`.
    """
    is_whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if is_whole else f"{value:.6g}"


# The metrics of alerts in dollars.
_AMOUNTS = frozenset({"cost_sum", "cost_per_session", "spent_usd"})


def figure(metric: str | None, value: float) -> str:
    """Formats a value of a metric of alerts for people: the error rate as `66.7 %`."""
    if metric in _AMOUNTS:
        return dollars(value)
    if metric != "error_rate":
        return number(value)
    share = value * 100
    if share == 0 or share >= 100:
        return f"{share:.0f} %"
    return f"{share:.1f} %" if share >= 0.1 else f"{share:.1g} %"


def dollars(amount: float) -> str:
    """Formats an amount of money: `$41.20`, below a dollar with four digits: `$0.0312`."""
    return f"${amount:,.4f}" if 0 < abs(amount) < 1 else f"${amount:,.2f}"


def storable(text: str, most: int | None = None) -> str:
    """Returns text that PostgreSQL can store, of at most `most` characters.

    Text from events, SQL results and other servers may contain U+0000 and lone surrogates. U+FFFD
    and `?` replace them.
    """
    return text[:most].replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def duration(us: int) -> str:
    """Formats a duration in microseconds for a sentence: `300 s`, `2 h`, `30 d`."""
    secs = round(us / 1_000_000)
    for size, unit in ((86_400, "d"), (3600, "h")):
        if secs % size == 0:
            return f"{secs // size} {unit}"
    return f"{secs} s"


def mend_surrogates(text: bytes) -> bytes:
    """Returns JSON with U+FFFD for each half of a surrogate pair, which Unicode cannot hold.

    JavaScript writes such halves when it cuts a text in the middle of a character.
    """
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)
