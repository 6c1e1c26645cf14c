"""The content of mails, the same in text and HTML."""

import html
import re
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest

from shared.access.mail.kinds import KINDS
from shared.access.mail.message import Unaddressable, compose
from shared.access.mail.rendering import render
from shared.foundation.core.ids import new_id

TO = "ann@example.net"
URL = "https://watch.example.org"
VALUES: dict[str, dict[str, Any]] = {
    "code": {"code": "012345", "ttl_secs": 600},
    "codes_guessed": {"wrong_codes": 20},
    "invitation": {"org_name": "Acme", "invited_by": "bob@example.net"},
    "permissions_changed": {
        "org_name": "Acme",
        "changed_by": "bob@example.net",
        "permissions": ["events:read", "keys:read"],
        "gained": ["keys:read"],
        "lost": ["events:add", "keys:create"],
    },
    "incident_activity": {
        "org_name": "Acme",
        "incident_id": "00000000-0000-4000-8000-000000000001",
        "page": "/o/acme/incidents/00000000-0000-4000-8000-000000000001",
        "title": "Errors rise",
        "severity": "critical",
        "event": "commented",
        "actor": "bob@example.net",
        "note": "I look after <it>",
    },
    "alert_notification": {
        "org_name": "Acme",
        "incident_id": "6ccd780c-baba-4026-9564-5b8c656024db",
        "page": "/o/acme/incidents/6ccd780c-baba-4026-9564-5b8c656024db",
        "event": "alert.firing",
        "headline": "[critical] Too many errors",
        "title": "Too many errors",
        "severity": "critical",
        "origin_name": "Error rate",
        "value": "0.25",
        "summary": "error_rate 0.25 > 0.2",
        "description": "Restart the gateway.",
        "opened_at": "2026-11-01T08:00:33.587000Z",
    },
}


def said(markup: str) -> list[str]:
    """Returns the visible words of HTML."""
    body = re.sub(r"<head>.*</head>", "", markup, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", body)).split()


def parsed(message: EmailMessage) -> EmailMessage:
    return message_from_bytes(message.as_bytes(), policy=default)


def body(message: EmailMessage, subtype: str) -> str:
    part = message.get_body((subtype,))
    assert part is not None
    return str(part.get_content())


def test_every_kind_is_tested_here() -> None:
    assert VALUES.keys() == KINDS.keys()
    for kind, values in VALUES.items():
        assert values.keys() == KINDS[kind].fields | KINDS[kind].made_when_sent


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("public_url", [URL, None])
def test_text_and_html_say_the_same(kind: str, public_url: str | None) -> None:
    content = render(kind, TO, VALUES[kind], public_url=public_url)
    # When markup ends before a comma, "a , b" in it is "a, b" to a reader.
    assert "".join(content.text.split()) == "".join(said(content.html))


@pytest.mark.parametrize("kind", KINDS)
def test_links_lead_to_the_public_url_or_nowhere(kind: str) -> None:
    without = render(kind, TO, VALUES[kind], public_url=None)
    assert "http" not in without.text + without.html
    assert "None" not in without.text + without.html
    if kind != "code":
        with_links = render(kind, TO, VALUES[kind], public_url=URL + "/")
        page = f"{URL}{VALUES[kind].get('page', KINDS[kind].page)}"
        assert f"\n{page}\n" in with_links.text
        assert f'href="{page}"' in with_links.html


def test_a_code_is_in_the_body_only_and_says_how_long_it_is_valid() -> None:
    content = render("code", TO, VALUES["code"], public_url=URL)
    assert "012345" not in content.subject
    assert "\n    012345\n" in content.text
    assert "valid for 10 minutes" in content.text
    for secs, words in ((60, "1 minute "), (90, "90 seconds "), (3600, "60 minutes ")):
        assert words in render("code", TO, {"code": "1", "ttl_secs": secs}, public_url=None).text


def test_an_invitation_says_who_where_and_as_whom() -> None:
    content = render("invitation", TO, VALUES["invitation"], public_url=URL)
    assert content.subject == "bob@example.net invited you to Acme on Watchpost"
    assert "bob@example.net invited you to Acme" in content.text
    assert f"Sign in with this address, {TO}" in content.text


def test_a_change_of_permissions_says_what_changed_and_what_is_left() -> None:
    text = render("permissions_changed", TO, VALUES["permissions_changed"], public_url=URL).text
    assert "bob@example.net changed your permissions in Acme" in text
    assert "Gained: keys:read\n" in text
    assert "Lost: events:add, keys:create\n" in text
    assert "You have now: events:read, keys:read\n" in text
    nothing = {**VALUES["permissions_changed"], "permissions": [], "gained": [], "lost": []}
    text = render("permissions_changed", TO, nothing, public_url=URL).text
    assert text.count(": nothing\n") == 3


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"codes_guessed"}))
def test_names_are_text_in_html_whatever_they_hold(kind: str) -> None:
    name = "<script>alert('x')</script> & \"co\""
    values = {
        field: name if isinstance(value, str) else value for field, value in VALUES[kind].items()
    }
    content = render(kind, TO, values, public_url=URL)
    assert "<script" not in content.html
    assert "&lt;script&gt;" in content.html
    assert name in content.text


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r", "\x0b", "\u2028", "\x00"])
def test_a_name_makes_no_header_and_no_line(ending: str) -> None:
    name = f"Acme{ending}Bcc: eve@example.net{ending}{ending}Hello"
    values = {"org_name": name, "invited_by": name}
    content = render("invitation", TO, values, public_url=URL)
    message = parsed(
        compose(new_id(), content, sender="w@example.org", recipient=TO, at=datetime.now(UTC))
    )
    assert message["Bcc"] is None
    assert message["Subject"].count("Acme Bcc: eve@example.net Hello") == 2
    assert "\nBcc" not in body(message, "plain")
    assert message["To"] == TO


@pytest.mark.parametrize("recipient", ["a@b\r\nBcc: c@d", "a@b, c@d", "a@", "a", "", "Ann <a@b>"])
def test_a_recipient_is_one_address(recipient: str) -> None:
    content = render("code", TO, VALUES["code"], public_url=None)
    with pytest.raises(Unaddressable):
        compose(new_id(), content, sender="w@b", recipient=recipient, at=datetime.now(UTC))


def test_a_mail_can_be_read_by_any_program() -> None:
    mail_id = new_id()
    values = {"org_name": "Söhne & Töchter " + "x" * 90, "invited_by": "böb@example.net"}
    content = render("invitation", TO, values, public_url=URL)
    at = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    made = compose(mail_id, content, sender="Wätch <w@example.org>", recipient=TO, at=at)
    made.as_bytes().decode("ascii")  # not every server takes more
    message = parsed(made)
    assert message.get_content_type() == "multipart/alternative"
    types = [part.get_content_type() for part in message.iter_parts()]
    assert types == ["text/plain", "text/html"]
    assert message["From"].addresses[0].display_name == "Wätch"
    assert message["Subject"] == content.subject
    assert message["Date"].datetime == at
    assert message["Message-ID"] == f"<{mail_id}@example.org>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert body(message, "plain").replace("\r\n", "\n") == content.text + "\n"
    assert "Söhne &amp; Töchter" in body(message, "html")
    assert message.defects == []
