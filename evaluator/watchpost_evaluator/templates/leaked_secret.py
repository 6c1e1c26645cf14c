"""Whether no event contains a credential."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from watchpost_evaluator import Assertion, Session, evaluator

# A kind of credential, a part of all its texts that is found fast, and the pattern.
PATTERNS = [
    ("AWS access key", "AKIA", r"\bAKIA[A-Z0-9]{16}\b"),
    ("AWS temporary access key", "ASIA", r"\bASIA[A-Z0-9]{16}\b"),
    ("GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    ("GitHub fine-grained token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{50,}"),
    ("GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{16,}"),
    ("Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", "sk-", r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})"),
    ("Google API key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("private key", "PRIVATE KEY", r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/=]{32}"),
    ("JSON web token", "eyJ", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}"),
]  # fmt: skip
SHORTEST = 20  # characters of a credential
_COMPILED = [(kind, needle, re.compile(pattern)) for kind, needle, pattern in PATTERNS]
# Nearly all random texts have a digit. A row of x shows that somebody removed the secret.
_RANDOM, _REMOVED = re.compile(r"\d|A[KS]IA"), re.compile(r"(?i)x{6}")


def texts_of(value: Any) -> Iterator[str]:
    """Yields the texts in a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


def kinds_in(text: str) -> set[str]:
    """Returns the kinds of credentials in a text."""
    if len(text) < SHORTEST:
        return set()
    found = set()
    for kind, needle, pattern in _COMPILED:
        secrets = pattern.findall(text) if needle in text else ()
        if any(_RANDOM.search(one) and not _REMOVED.search(one) for one in secrets):
            found.add(kind)
    return found


@evaluator("leaked_secret", version="1", result="assertion", labels=["security"])
def leaked_secret(session: Session) -> Assertion:
    """Searches every text of every event; the reasoning never has the secret."""
    kinds: set[str] = set()
    events = []
    for event in session.events:
        found = set().union(*map(kinds_in, texts_of(dict(event.payload))))
        if found:
            kinds |= found
            events.append(event)
    reasoning = f"found: {', '.join(sorted(kinds))}" if kinds else "no credential was found"
    return Assertion(not kinds, reasoning, evidence=events)
