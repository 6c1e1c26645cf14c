"""Tokens by ClickHouse's rules: kept, respelled and refused, compared with the server's view."""

import random

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard import lexer
from shared.reading.queries.guard.lexer import (
    MAX_DEPTH,
    MAX_LENGTH,
    StatementRefused,
    TokenKind,
    tokens_of,
)
from shared.reading.queries.guard.text import Text


def normalized(sql: str) -> str:
    return Text(sql, tokens_of(sql), lambda number, _: f"${number}").sql


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 -- one\n+ 2", "SELECT 1 + 2"),
        ("SELECT 1 /* one */+2", "SELECT 1 +2"),
        ("SELECT 1 // one\n+ 2 # two\n+ 3 #! three", "SELECT 1 + 2 + 3"),
        ("SELECT 1 --\r+ 2", "SELECT 1"),
        ("SELECT/**/1", "SELECT 1"),
        ("SELECT 1 -/**/- 2", "SELECT 1 - - 2"),
        ("SELECT\u00a01\u3000+\u20282", "SELECT 1 + 2"),
        ("  SELECT 1 ; ;\n", "SELECT 1"),
        ("SELECT 'it''s'", r"SELECT 'it\'s'"),
        ("SELECT 'a\nb\r\\\nc'", r"SELECT 'a\nb\r\nc'"),
        (r"SELECT '\x41\\\'\%'", r"SELECT '\x41\\\'\%'"),
        ('SELECT "a b", `c`', "SELECT `a b`, `c`"),
        ('SELECT "a"`b`', "SELECT `a` `b`"),
        ("SELECT t.1.2, 1_000, .5, 5., 1e-3, 0xFF", "SELECT t.1.2, 1_000, .5, 5., 1e-3, 0xFF"),
        ("SELECT '$1', $2", "SELECT '$1', $2"),
        ("SELECT ';', '--', '/*'", "SELECT ';', '--', '/*'"),
    ],
)
def test_text_is_written_down_in_one_way(sql: str, expected: str) -> None:
    assert normalized(sql) == expected
    assert normalized(normalized(sql)) == expected


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 'a", "the string at line 1, column 8 does not end"),
        ("SELECT\n\n  `a", "the quoted name at line 3, column 3"),
        ("SELECT 1 /* a", "the comment at line 1, column 10 does not end"),
        ("SELECT /* a /* b */ */ 1", "the comment at line 1, column 8 contains another one"),
        ("SELECT \u2018a\u2019", "the quote \u2018 at line 1, column 8 is not valid in SQL"),
        ("SELECT $$a$$", "the $ at line 1, column 8"),
        ("SELECT $0", "the $ at line 1, column 8"),
        ("SELECT $1a", "the $ at line 1, column 8"),
        ("SELECT a$1", "$ at line 1, column 9 cannot follow"),
        ("SELECT {a:String}", "{ at line 1, column 8: write parameters as $1"),
        ("SELECT 1\u200b", "U+200B at line 1, column 9 is not SQL"),
        ("SELECT 1\x00", "there is an unprintable character at line 1, column 9"),
        ("SELECT '\x01'", "there is an unprintable character at line 1, column 9"),
        ("SELECT x'41'", "a string cannot have a prefix"),
        ("SELECT 1abc", "a at line 1, column 9 cannot follow"),
        ("SELECT 1; SELECT 2", "send one statement"),
        ("SELECT (1]", "a ] has no opening bracket"),
        ("SELECT [(1)", "a [ is not closed"),
        ("SELECT " + "(" * (MAX_DEPTH + 1), f"brackets may be nested at most {MAX_DEPTH} deep"),
        (
            "SELECT " + "1" * MAX_LENGTH,
            "a statement has at most 8000 characters, this one has 8007",
        ),
        ("SELECT é", "é at line 1, column 8 is not SQL outside of quotes"),
        ("SELECT 1 \\G", "\\ at line 1, column 10"),
        ("SELECT @@x", "@ at line 1, column 8"),
    ],
)
def test_a_refusal_says_what_and_where(sql: str, reason: str) -> None:
    with pytest.raises(StatementRefused) as refused:
        tokens_of(sql)
    assert str(refused.value).startswith(reason)


def test_a_token_knows_its_kind_and_place() -> None:
    kinds = [token.kind for token in tokens_of("SELECT `a`, 'b', 1, $1 /* */ + x")]
    assert kinds == [
        *(
            TokenKind.WORD,
            TokenKind.NAME,
            TokenKind.MARK,
            TokenKind.STRING,
            TokenKind.MARK,
            TokenKind.NUMBER,
            TokenKind.MARK,
        ),
        *(TokenKind.PARAM, TokenKind.MARK, TokenKind.WORD),
    ]
    last = tokens_of("SELECT 1\n  + x")[-1]
    assert (lexer.where("SELECT 1\n  + x", last.at), last.word) == ("line 2, column 5", "X")


# Pieces in unusual combinations. A string right behind FROM is left out: there the server takes it
# for a name, and names have no doubled quotes.
PIECES = [
    *(
        "SELECT",
        "events",
        "a",
        "b",
        "AS",
        "NULL",
        "x.y.z",
        "t.1",
        "t.1.2",
        "f(",
        "f(1)",
        "_",
        "a_b",
    ),
    *("1", "2.5", ".5", "5.", "1e3", "1_000", "0x1F", "0b11", "1.", "..", ".1", "1a", "a1", "_1"),
    *("'", "''", "\\", "\\'", "'a'", "'it''s'", "'\\n'", "'\\\\'", "'\\x41'", "'\\0'", "'\\%'"),
    *("'\n'", "'\\\n'", "x'", "b'01'", "X'41'", "N'a'", '"', '"n"', "`", "`n`", "\\N", "\\G"),
    *("--", "-- c\n", "//", "// c\n", "/", "/*", "*/", "/* c */", "#", "# c\n", "#! c\n", "#!"),
    *("/**/", "/*/", "**", "--1", "- -1", "1-1", "1--1\n", "-1", "\n", " ", "  ", "\t", "\r"),
    *(
        "\x0b",
        "\x0c",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\ufeff",
        "\u200b",
        "é",
        "'é'",
        "\u2018",
        "\u2019",
    ),
    *(
        "$1",
        "$",
        "$$",
        "$a$",
        ";",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        "-",
        "+",
        "*",
        "->",
        "<",
        "=",
    ),
    *(">", "<=>", "<>", "==", "::", ":", "?", "!", "!=", "&", "^", "~", "%", "@", "@@"),
]


def soups(chance: random.Random, number: int) -> list[tuple[str, str]]:
    """Texts that the lexer accepts, with their rewritten form."""
    found: list[tuple[str, str]] = []
    while len(found) < number:
        gap = chance.choice(("", "", " "))
        sql = "SELECT " + gap.join(chance.choices(PIECES, k=chance.randrange(1, 10)))
        try:
            found.append((sql, normalized(sql)))
        except StatementRefused:
            continue
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_server_reads_both_texts_alike(runtime: Runtime, seed: int) -> None:
    """For random texts, the server's own parser reads both forms the same."""
    texts = soups(random.Random(seed), 4000)
    clickhouse: ClickHouse = runtime.clickhouse
    sql = (
        "SELECT formatQuerySingleLineOrNull(t.1), formatQuerySingleLineOrNull(t.2) FROM"
        " (SELECT arrayJoin(arrayZip({sent:Array(String)}, {written:Array(String)})) AS t)"
    )
    sent, written = zip(*texts, strict=True)
    rows = clickhouse.rows(sql, {"sent": list(sent), "written": list(written)})
    assert len(rows) == len(texts)
    assert sum(row[0] is not None for row in rows) > 500
    pairs = zip(texts, rows, strict=True)
    assert [text for text, (one, other) in pairs if one != other] == []
