"""Other people's texts in Markdown."""

import pytest

from shared.watch.audits.runs.markdown import name, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Tool book_seat fails in 3 of 7 calls.", "Tool book_seat fails in 3 of 7 calls."),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("[click](https://evil.test)", "\\[click\\](https\\[:\\]//evil.test)"),
        ("![x](//evil.test/a.png)", "!\\[x\\](//evil.test/a.png)"),
        ("<https://evil.test>", "&lt;https\\[:\\]//evil.test>"),
        ("see WWW.evil.test", "see www\\[.\\]evil.test"),
        ("mail me@evil.test", "mail me\\@evil.test"),
        ("**bold** _it_ __it__ `code`", "\\*\\*bold\\*\\* \\_it\\_ \\_\\_it\\_\\_ \\`code\\`"),
        ("a\n\n# heading\n\n- item", "a # heading - item"),
        ("# heading", "\\# heading"),
        ("> quoted", "\\> quoted"),
        ("- item", "\\- item"),
        ("12. item", "12\\. item"),
        ("=====", "\\====="),
        ("[ref]: https://evil.test", "\\[ref\\]: https\\[:\\]//evil.test"),
        ("back\\slash", "back\\\\slash"),
        ("nul\x00 bell\x07 rtl\u202eover \ud800", "nul bell rtl over"),
        ("", ""),
    ],
)
def test_a_text_shows_itself_and_makes_nothing(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sess_1-a/b:c", "`sess_1-a/b:c`"),
        ("two words", "`two words`"),
        ("x", "`x`"),
        ("a`b", "a\\`b"),
        ("<b>", "&lt;b>"),
        (" edge", "edge"),
        ("two  blanks", "two blanks"),
    ],
)
def test_an_id_is_shown_letter_by_letter_where_nothing_leaves_the_span(
    text: str, shown: str
) -> None:
    assert name(text) == shown
