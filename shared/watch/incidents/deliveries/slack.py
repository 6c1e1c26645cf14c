"""The message for a Slack webhook: Block Kit, and a text for clients that show no blocks."""

from typing import Any

from shared.foundation.core.clock import format_ts
from shared.watch.incidents.deliveries.news import News

# Slack refuses the whole message if one of its texts is longer.
MAX_HEADER, MAX_TEXT, MAX_FIELD = 150, 3000, 2000

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def content(news: News) -> dict[str, Any]:
    """Returns the message as JSON."""
    facts = [("Severity", news.severity), ("Opened", format_ts(news.opened_at))]
    if news.origin_name is not None:
        facts.append(("Raised by", news.origin_name))
    if news.value_text is not None:
        facts.append(("Value", news.value_text))
    fields = [_mrkdwn(fitting(fact, MAX_FIELD, before=f"*{name}*\n")) for name, fact in facts]
    section: dict[str, Any] = {"type": "section", "fields": fields}
    if news.summary or news.description:
        section["text"] = _mrkdwn(_text(news.summary or "", news.description))
    header = {"type": "plain_text", "text": fitting(news.headline, MAX_HEADER), "emoji": False}
    return {
        "text": fitting(f"{news.headline}: {news.summary or news.severity}", MAX_TEXT),
        "blocks": [
            {"type": "header", "text": header},
            section,
            {"type": "context", "elements": [_mrkdwn(_context(news))]},
        ],
    }


def fitting(text: str, most: int, *, before: str = "") -> str:
    """Returns `before` and the text, escaped for Slack and cut to `most` characters in total.

    `&`, `<` and `>` could begin a link, or a mention, even of the whole channel.
    """
    escaped = before + text.translate(_ESCAPES)
    if len(escaped) <= most:
        return escaped
    made = before
    for character in text:
        piece = character.translate(_ESCAPES)
        if len(made) + len(piece) >= most:
            break
        made += piece
    return f"{made}…"


def _mrkdwn(text: str) -> dict[str, Any]:
    """Returns a text block in which Slack does not turn words into links or mentions by itself."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _text(summary: str, description: str | None) -> str:
    if not description:
        return fitting(summary, MAX_TEXT)
    text = fitting(summary, MAX_TEXT // 2)
    return fitting(description, MAX_TEXT, before=f"{text}\n*What to do*\n".lstrip())


def _context(news: News) -> str:
    label = f"Watchpost incident {news.incident_id}" if news.stored else "The alert in Watchpost"
    return label if news.page_url is None else f"<{news.page_url}|{label}>"
