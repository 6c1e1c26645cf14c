"""Numbers and links of an answer, compared with the results of the tools."""

import pytest

from shared.assistant.evidence import REMOVED_LINK, UNVERIFIED, Evidence

RESULTS = '{"total":17,"rate":0.8543,"p95":5230.4,"tokens":1234567,"big":5300}'


def passed(text: str, *, pieces: int = 1) -> str:
    """Returns the text as it comes out, if it goes in by pieces of this length."""
    evidence = Evidence("/o/acme/")
    evidence.saw(RESULTS)
    evidence.counted([42])
    parts = [text[at : at + pieces] for at in range(0, len(text), pieces)]
    return "".join(map(evidence.pass_on, parts)) + evidence.rest()


@pytest.mark.parametrize(
    "known",
    [
        *("There are 17 of 42.", "85% or 85.4%", "0.85 of all", "p95 is 5.2 s", "5,230.4 ms"),
        *("1,234,567 tokens", "1.2M tokens", "5.3k events", "**17** sessions, (17)"),
        *("1. First\n2. Second", "on 2026-11-02 at 12:30:01", "`x = 99`", "airline-009-t2"),
        *("`a b 99 c`", "gpt-4o and v1.2.3", "s#12", "model 4o"),
    ],
)
@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_a_number_that_a_tool_returned_stays(known: str, pieces: int) -> None:
    assert passed(known, pieces=pieces) == known


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("There are 18.", f"There are 18 {UNVERIFIED}."),
        ("86% fail", f"86% {UNVERIFIED} fail"),
        ("17 of 99", f"17 of 99 {UNVERIFIED}"),
        ("5.4 s", f"5.4 {UNVERIFIED} s"),
    ],
)
@pytest.mark.parametrize("pieces", [1, 1000])
def test_a_number_from_nowhere_is_marked(text: str, marked: str, pieces: int) -> None:
    assert passed(text, pieces=pieces) == marked


def test_a_number_that_an_earlier_answer_marked_is_not_known_by_that() -> None:
    evidence = Evidence("/o/acme/")
    evidence.said(f"42 {UNVERIFIED} of 61, **5,300.5% {UNVERIFIED}**, 7k {UNVERIFIED}")
    assert evidence.pass_on("42 of 61 or 5,300.5% or 7k ") == (
        f"42 {UNVERIFIED} of 61 or 5,300.5% {UNVERIFIED} or 7k {UNVERIFIED} "
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [s](/o/acme/sessions/s-99)", "see [s](/o/acme/sessions/s-99)"),
        ("see [s](https://evil.example/?d=1)", f"see [s] {REMOVED_LINK}"),
        ("![x](https://evil.example/a.png?k=17)", f"![x] {REMOVED_LINK}"),
        ("[s](/o/other/sessions/x)", f"[s] {REMOVED_LINK}"),
        ("[s](//evil.example/x)", f"[s] {REMOVED_LINK}"),
        ("[s](javascript:alert(1))", f"[s] {REMOVED_LINK})"),
        ("[s]( https://evil.example )", f"[s] {REMOVED_LINK} https://evil.example )"),
        ("[s](/o/acme/../other/keys)", f"[s] {REMOVED_LINK}"),
        ("[s](/o/acme/%2e%2E/%2e./v1/audit-log/export)", f"[s] {REMOVED_LINK}"),
        ("[s](/o/acme/./..)", f"[s] {REMOVED_LINK}"),
        ("[s](/o/acme/a\\..\\..\\x)", f"[s] {REMOVED_LINK}"),
        ("[s](/o/acme/sessions/a..b/...?q=/../#/..)", "[s](/o/acme/sessions/a..b/...?q=/../#/..)"),
    ],
)
@pytest.mark.parametrize("pieces", [1, 5, 1000])
def test_only_links_to_the_organization_stay(text: str, shown: str, pieces: int) -> None:
    assert passed(text, pieces=pieces) == shown
