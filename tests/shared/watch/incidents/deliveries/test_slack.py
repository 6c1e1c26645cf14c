"""Messages to Slack, in its format and within its limits."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.foundation.core.ids import new_id
from shared.watch.incidents.deliveries import slack
from shared.watch.incidents.deliveries.news import News

NEWS = News(
    event="alert.firing",
    org_id=new_id(),
    incident_id=new_id(),
    stored=True,
    page="/o/acme/incidents/1",
    page_url="https://watch.example.org/o/acme/incidents/1",
    url="https://watch.example.org/v1/alerts/incidents/1",
    opened_at=datetime(2026, 11, 1, tzinfo=UTC),
    title="Too many errors",
    origin={"id": "1", "name": "Error rate"},
    severity="critical",
    value=1234567.0,
    summary="error_count 1234567 > 10",
    evidence=None,
)
ENTITIES = ("&amp;", "&lt;", "&gt;")


def texts(message: Any) -> list[str]:
    """Returns every text object of a message, and its fallback."""
    header, section, context = message["blocks"]
    return [
        message["text"],
        header["text"]["text"],
        *([section["text"]["text"]] if "text" in section else []),
        *(field["text"] for field in section["fields"]),
        *(element["text"] for element in context["elements"]),
    ]


def test_a_message_has_header_facts_and_context() -> None:
    message = slack.content(NEWS)
    assert [block["type"] for block in message["blocks"]] == ["header", "section", "context"]
    assert texts(message) == [
        "[critical] Too many errors: error_count 1234567 > 10".replace(">", "&gt;"),
        "[critical] Too many errors",
        "error_count 1234567 &gt; 10",
        "*Severity*\ncritical",
        "*Opened*\n2026-11-01T00:00:00.000000Z",
        "*Raised by*\nError rate",
        "*Value*\n1234567",
        f"<{NEWS.page_url}|Watchpost incident {NEWS.incident_id}>",
    ]


@pytest.mark.parametrize(
    ("event", "begins"), [("alert.resolved", "Resolved: "), ("alert.test", "Test: ")]
)
def test_the_header_says_what_happened(event: Any, begins: str) -> None:
    header = slack.content(replace(NEWS, event=event))["blocks"][0]
    assert header["text"]["text"] == f"[critical] {begins}Too many errors"


def test_missing_values_are_left_out() -> None:
    message = slack.content(replace(NEWS, origin=None, value=None, summary=None, url=None))
    assert len(message["blocks"][1]["fields"]) == 2
    assert all(texts(message))
    assert "None" not in str(message)


def test_names_make_no_mentions_and_no_links() -> None:
    name = "<!channel> & <https://evil.example|here>"
    message = slack.content(
        replace(NEWS, title=name, summary=name, origin={"id": "1", "name": name})
    )
    for text in texts(message)[:-1]:
        assert "<" not in text
    assert "&lt;!channel&gt; &amp; &lt;https" in texts(message)[2]
    # Otherwise Slack makes links and mentions of texts like https://… and @here.
    _, section, context = message["blocks"]
    marked = [section["text"], *section["fields"], *context["elements"]]
    assert all(one["verbatim"] is True for one in marked)


@pytest.mark.parametrize("text", ["x" * 10_000, "&" * 10_000, "a<" * 5000, "x" * 2999 + "&"])
def test_no_text_is_longer_than_slack_takes_nor_cut_within_an_entity(text: str) -> None:
    origin = {"id": "1", "name": text}
    message = slack.content(replace(NEWS, title=text, summary=text, origin=origin))
    fallback, header, summary, *fields = texts(message)
    assert len(fallback) <= slack.MAX_TEXT
    assert len(header) <= slack.MAX_HEADER
    assert len(summary) <= slack.MAX_TEXT
    assert all(len(field) <= slack.MAX_FIELD for field in fields)
    for one in (fallback, header, summary, fields[2]):
        for entity in ENTITIES:
            one = one.replace(entity, "")
        assert "&" not in one


def test_a_fitting_text_is_not_cut() -> None:
    assert slack.fitting("x" * 3000, 3000) == "x" * 3000
    assert slack.fitting("x" * 3001, 3000) == "x" * 2999 + "…"
