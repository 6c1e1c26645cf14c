"""The redacted parts of an event, and the parts that stay byte for byte."""

import json

import pytest

from shared.intake.ingest.decode import decode_events
from shared.intake.redaction.rules import Redactor

HEAD = b'{"session_id":"s","timestamp":"2026-01-01T00:00:00Z","type":"note",'
ORG = "org"
R = b'"[redacted]"'


def redacted(fields: bytes, *names: str) -> bytes:
    """Returns an event's own fields after ingest with these names redacted."""
    redact = Redactor(names or ("password",)).redact
    decoded = decode_events([HEAD + fields + b"}"], ORG, 4 * 1024 * 1024, redact)
    assert decoded.skipped == 0, decoded.errors
    [payload] = decoded.batch.payloads
    assert payload.startswith(HEAD)
    return payload[len(HEAD) : -1]


@pytest.mark.parametrize(
    "value",
    [
        b'"x"', b'""', b'"a \\"quoted\\" [ } one"', b'"ends in \\\\"', b"0", b"-1.5e-7", b"1e400",
        b"123456789012345678901234567890", b"true", b"null", b"{}", b"[]", b'{"a":{"b":["}"]}}',
        b'[1,[2,"]"],{"password":"y"}]', b'"\\ud800"', '"Größe 🗝"'.encode(),
    ],
)  # fmt: skip
def test_a_value_of_any_type_is_replaced_whole(value: bytes) -> None:
    assert redacted(b'"password":%b' % value) == b'"password":' + R
    assert redacted(b'"a":1,"password" :\t%b , "b":"c"' % value) == (
        b'"a":1,"password" :\t%b , "b":"c"' % R
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (b'"a":{"password":1}', b'"a":{"password":%b}'),
        (b'"a":[0,[{"b":[{"password":[1,2]}]}]]', b'"a":[0,[{"b":[{"password":%b}]}]]'),
        (b'"a":{"b":{"password":{"c":1},"d":2},"e":3}', b'"a":{"b":{"password":%b,"d":2},"e":3}'),
    ],
)
def test_at_any_depth(fields: bytes, expected: bytes) -> None:
    assert redacted(fields) == expected % R


@pytest.mark.parametrize(
    "key",
    [b"password", b"PassWord", b"PASSWORD", b"pass\\u0077ord", b"p\\u0041ssword", b"\\u0070assword",
     b"\\u0050\\u0041\\u0053\\u0053\\u0057\\u004F\\u0052\\u0044"],
)  # fmt: skip
def test_however_the_key_is_spelled(key: bytes) -> None:
    assert redacted(b'"a":{"%b":"x"}' % key) == b'"a":{"%b":%b}' % (key, R)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Öl", "ÖL"), ("öl", "Öl"), ("öl", "\\u00d6l"), ("пароль", "Пароль"), ("🗝", "🗝"),
        ("🗝", "\\ud83d\\uddd1".replace("ddd1", "dddd")), ("a/b", "a/b"), ("a/b", "A\\/b"),
        ('a"b', 'a\\"b'), ('a"b', "a\\u0022b"), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb"),
        ("a\nb", "a\\u000ab"), (",a", ",a"), (":", ":"), (" ", " "), ("}", "}"), ("]x", "]x"),
        ("x-api-key", "X-Api-Key"), ("a b", "a b"), ("{", "{"), ("\x7f", "\x7f"), ("$.a", "$.a"),
    ],
)  # fmt: skip
def test_names_of_any_characters(name: str, key: str) -> None:
    for rest in ("", '"x":",","y":["a",": b",{}],', '"x":"\\u00e9\\n",'):
        fields = f'{rest}"{key}":"hush","z":" : "'
        assert redacted(fields.encode(), name) == fields.replace('"hush"', R.decode()).encode()


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("password", "password2"), ("password", "my password"), ("password", "pass word"),
        ("password", "passw\u00f6rd"), ("token", "to\u212aen"), ("to\u212aen", "token"),
        ("a.b", "b"), ("strasse", "straße"), ("straße", "strasse"), ("password", '\\"password'),
    ],
)  # fmt: skip
def test_other_keys_stay(name: str, key: str) -> None:
    fields = f'"{key}":"kept","a":"{name}","b":["{name}"],"c":"x {name}: y"'.encode()
    assert redacted(fields, name) == fields


def test_every_one_of_duplicate_keys() -> None:
    fields = b'"password":"x","a":1,"a":2,"password":{"password":"y"},"Password":null'
    assert redacted(fields) == b'"password":%b,"a":1,"a":2,"password":%b,"Password":%b' % (R, R, R)


def test_all_else_stays_as_it_was_sent() -> None:
    """Numbers that no double holds, escapes, spaces, order, halves of emoji, repeated keys."""
    rest = (
        rb'"n":[1e400,-0.0,1.10,12345678901234567890123,0E+5],"u":"\u00e9\/\ud800 \\",'
        b'"d":1,"d":2 ,\t"\xc3\xb6":[ ] ,"\\u0064":{ "x" : null }'
    )
    assert redacted(b'"password":1,' + rest) == b'"password":%b,' % R + rest
    assert redacted(rest + b',"pass\\u0077ord":1') == rest + b',"pass\\u0077ord":' + R


def test_an_event_without_a_listed_key_is_the_very_same() -> None:
    line = HEAD + b'"a":"\\u0061 \\"password","b":"password","c":["password"]}'
    assert Redactor(["password"]).redact(line) is line


def test_nesting_just_under_the_limit() -> None:
    def nested(levels: int) -> bytes:
        return b'{"a":[' * levels + b'{"password":"hush"}' + b"]}" * levels

    # The parser's depth limit depends on the caller's stack.
    deep = next(
        nested(levels)
        for levels in range(500, 0, -1)
        if decode_events([HEAD + b'"a":%b}' % nested(levels)], ORG, 10**6).skipped == 0
    )
    assert len(deep) > len(nested(300))
    assert redacted(b'"a":%b' % deep) == b'"a":%b' % deep.replace(b'"hush"', R)
    assert redacted(b'"password":%b,"b":1' % deep) == b'"password":%b,"b":1' % R


@pytest.mark.parametrize("levels", [1, 2, 3, 6])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_json_text_inside_strings_however_often_it_was_encoded(
    levels: int, ensure_ascii: bool
) -> None:
    def encoded(inner: object) -> str:
        text = json.dumps(inner, ensure_ascii=ensure_ascii, indent=1)
        for _ in range(levels):
            text = json.dumps(text, ensure_ascii=ensure_ascii)
        return text

    def inner(secret: object) -> object:
        return {"é": ["🗝\n", {"Password": secret, "n": 1.5}], "rest": "\u0000\"'"}

    secret = {"deep": "hush"}
    found = redacted(b'"out":%b,"n":1e400' % encoded(inner(secret)).encode())
    assert b"hush" not in found
    assert found.endswith(b',"n":1e400')
    value = json.loads(b"{%b}" % found)["out"]
    for _ in range(levels):
        value = json.loads(value)
    assert value == inner("[redacted]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"password": "hush"}\n{"a":1,"password": 2}', '{"password": %}\n{"a":1,"password": %}'),
        ('Out of 5": [{"password": "hush", "a": 1}] "', 'Out of 5": [{"password": %, "a": 1}] "'),
        ('{"a": 1, "password": "hush and cut o', '{"a": 1, "password": %'),
        ('{"a": 1, "password": {"b": ["hush", ', '{"a": 1, "password": %'),
        ('{"a": "C:\\q", "password": hush}', '{"a": "C:\\q", "password": %}'),
        ('{"a": "\ud800", "password": "hush"}', '{"a": "\ud800", "password": %}'),
        ('["{\\"password\\": \\"hush, cut o', '["{\\"password\\": \\"[redacted]\\""'),
        ('{"\\q": "password", "password":', '{"\\q": "password", "password":%'),
    ],
)  # fmt: skip
def test_text_that_is_almost_json(text: str, expected: str) -> None:
    """Several documents, with words before them, cut off, slightly malformed."""
    found = redacted(b'"out":%b' % json.dumps(text).encode())
    assert json.loads(b"{%b}" % found)["out"] == expected.replace("%", R.decode())


@pytest.mark.parametrize(
    "spelled",
    [
        rb"{\u0022password\u0022:\u0022hush\u0022}", rb"\u007b\"password\":\"hush\"\u007d",
        rb"{\"pass\\u0077ord\":\"hush\"}", rb"{\"pass\\\u00750077ord\":\"hush\"}",
        rb"{\"pass\u005cu0077ord\":\"hush\"}", rb"{\"pass\\u\u0030077ord\":\"hush\"}",
        rb"{\"\u0070assword\":\"hush\"}", rb"\"{\u005c\u0022password\\\"\u003a\\\"hush\\\"}\"",
    ],
)  # fmt: skip
def test_text_whose_escapes_hide_the_key(spelled: bytes) -> None:
    assert b"hush" not in redacted(b'"out":"%b"' % spelled)


@pytest.mark.parametrize(
    "text",
    [
        'he said "password": "hush"',
        '"password": "hush"',
        "{'password': 'hush'}",
        "password: hush",
        "[password]",
    ],
)
def test_text_of_another_notation_stays(text: str) -> None:
    fields = b'"out":%b' % json.dumps(text).encode()
    assert redacted(fields) == fields


def test_the_id_is_of_the_bytes_as_sent() -> None:
    lines = [HEAD + b'"password":"x"}', HEAD + b'"password":"y"}']
    plain = decode_events(lines, ORG, 1000).batch
    batch = decode_events(lines, ORG, 1000, Redactor(["password"]).redact).batch
    assert batch.ids == plain.ids
    assert len(set(batch.ids)) == 2
    assert len(set(batch.payloads)) == 1
    assert [batch.ts, batch.session_ids] == [plain.ts, plain.session_ids]


def test_the_limit_of_an_event_is_that_of_its_bytes_as_sent() -> None:
    line = HEAD + b",".join(b'"k":1' for _ in range(1000)) + b"}"
    decoded = decode_events([line], ORG, len(line), Redactor(["k"]).redact)
    assert decoded.skipped == 0
    [payload] = decoded.batch.payloads
    assert len(line) < len(payload) < 4 * len(line)


def test_no_names_are_no_redactor() -> None:
    assert not Redactor([])
    assert Redactor(["a"])


@pytest.mark.parametrize(
    "text",
    [
        b'"' * 400_000, b'\\"' * 400_000, b'"password":{' * 80_000, b'{"password":' * 80_000,
        b'"password":"' * 80_000, b"[{" * 400_000, b'"password"' * 90_000, b'":' * 400_000,
    ],
)  # fmt: skip
def test_a_hostile_text_is_read_once(text: bytes) -> None:
    """None of these may take quadratic time."""
    found = redacted(b'"out":%b,"password":"hush"' % json.dumps("{" + text.decode()).encode())
    assert found.endswith(b'"password":' + R)
