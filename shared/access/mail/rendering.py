"""Renders the templates of a mail, as text and as HTML with the same facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from shared.access.mail.kinds import KINDS, NEW_FIELDS
from shared.foundation.core import pages


@dataclass(frozen=True)
class MailContent:
    """The subject, on one line, and the two bodies."""

    subject: str
    text: str
    html: str


def render(
    kind: str, recipient: str, values: Mapping[str, Any], *, public_url: str | None
) -> MailContent:
    """Renders the templates of `kind` with `values`: its context and the values made at sending.

    Links begin with `public_url`; without it there are none. Raises `jinja2.TemplateError` if a
    template needs a value that is missing.
    """
    variables = {
        name: _on_one_line(value)
        for name, value in {
            **dict.fromkeys(KINDS[kind].fields & NEW_FIELDS),
            **values,
            "recipient": recipient,
            "page_url": pages.url(public_url, values.get("page") or KINDS[kind].page),
        }.items()
    }
    return MailContent(
        subject=_TEMPLATES.from_string(KINDS[kind].subject).render(variables),
        text=_TEMPLATES.get_template(f"{kind}.txt").render(variables),
        html=_TEMPLATES.get_template(f"{kind}.html").render(variables),
    )


def _on_one_line(value: Any) -> Any:
    """Joins lines, because names come from people and must not start a line, or a header."""
    if isinstance(value, str):
        return " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if isinstance(value, list):
        return [_on_one_line(item) for item in value]
    return value


def _duration(seconds: int) -> str:
    """Formats seconds for people: `10 minutes`, `90 seconds`."""
    amount, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{amount} {unit}{'' if amount == 1 else 's'}"


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=jinja2.select_autoescape(["html"], default_for_string=False),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["duration"] = _duration
