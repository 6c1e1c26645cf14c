"""Texts that channels for people share."""

from shared.incidents.deliveries.news import News

_STATES = {"alert.firing": "", "alert.resolved": "Resolved: ", "alert.test": "Test: "}


def headline(news: News) -> str:
    """Returns `[critical] Resolved: the title`, on one line."""
    return f"[{news.severity}] {_STATES[news.event]}{' '.join(news.title.split())}"
