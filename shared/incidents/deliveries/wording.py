"""Words that channels for people share."""

from shared.incidents.deliveries.news import News

_STATES = {"alert.firing": "", "alert.resolved": "Resolved: ", "alert.test": "Test: "}


def headline(news: News) -> str:
    """`[critical] Resolved: the title`, on one line."""
    return f"[{news.severity}] {_STATES[news.event]}{' '.join(news.title.split())}"


def number(value: float) -> str:
    """A value as people read it: counts in full, others with six digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
