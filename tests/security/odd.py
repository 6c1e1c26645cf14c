"""Absurd values, some of which no encoder would write."""

import json

# JSON texts.
ODD_JSON = (
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "-0.0",
    "1e308",
    "1e400",
    "9223372036854775808",
    "1" + "0" * 400,
    '""',
    '" "',
    r'"\u0000"',
    r'"a\u0000b"',
    r'"\ud800"',
    r'"\u202e\ufeff\ud83d\ude00"',
    r'"\u0660\u0664\u0662\u0661\u0669\u0665"',
    json.dumps("x" * 100_000),
    json.dumps("x" * 300 + "@example.org"),
    '"0001-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59.999999-23:59"',
    "[]",
    "{}",
    r'[null, 0, "\u0000", []]',
    '{"value": {"value": null}}',
    "[" * 60 + "]" * 60,
    "[" * 100_000 + "]" * 100_000,
)

# Values of query parameters, percent-encoded.
ODD_TEXTS = (
    "%00",
    "%20",
    "-1",
    "0",
    "1e308",
    "9" * 40,
    "%D9%A3",
    "%FF%FE",
    "x" * 3000,
    "%",
    "'",
    "[]",
    "%5C,",
    ":..",
    "0001-01-01T00:00:00%2B23:59",
    "9999-12-31T23:59:59-23:59",
)


def with_field(body: dict[str, object], name: str, odd: str) -> bytes:
    """Returns the body as JSON, with a JSON text in place of one field."""
    texts = {key: json.dumps(value) for key, value in body.items()} | {name: odd}
    inside = ", ".join(f"{json.dumps(key)}: {text}" for key, text in texts.items())
    return f"{{{inside}}}".encode()
