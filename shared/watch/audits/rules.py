"""Pure decisions about the definition of an audit (docs/use/audits.md)."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid
from shared.foundation.postgres.room import Room
from shared.watch.audits.schedule import default_anchor
from shared.watch.audits.signals import NAMES
from shared.watch.incidents.channels import check_channels

MAX_NAME_LENGTH = 200
MAX_DESCRIPTION_LENGTH = 10_000
HOUR_SECS, DAY_SECS = 3600, 86_400
MIN_INTERVAL_SECS, MAX_INTERVAL_SECS, DEFAULT_INTERVAL_SECS = HOUR_SECS, 7 * DAY_SECS, DAY_SECS
MIN_LOOKBACK_SECS, MAX_LOOKBACK_SECS, DEFAULT_LOOKBACK_SECS = (
    HOUR_SECS,
    90 * DAY_SECS,
    7 * DAY_SECS,
)
MAX_ANCHOR_AHEAD = timedelta(days=365)
# Earlier anchors make no sense in any schedule.
MIN_ANCHOR = datetime(1970, 1, 1, tzinfo=UTC)
WINDOW_MODES = ("since_last", "fixed")
SENSITIVITIES = ("low", "medium", "high")
SCOPES = ("environments", "agent_ids")
MAX_TOP_K, DEFAULT_TOP_K = 500, 50
# The limits of lists of names and error types, which restrict an audit, and of each entry.
MAX_VALUES, MAX_VALUE_LENGTH = 100, 256
MAX_CONTEXT_LENGTH = 8192
MAX_URLS, MAX_URL_LENGTH = 5, 2048
# All audits of an organization are listed without pages.
ROOM = Room(rows=500, total_bytes=16 * 1024 * 1024)

Check = Callable[[str, Any], Any]


class ReportContext(NamedTuple):
    """Background information about the agents, only for the report; the URLs are never fetched."""

    text: str
    urls: list[str]


def defaults(now: datetime) -> dict[str, Any]:
    """Returns the defaults of the fields of an audit, except its name."""
    return {
        "description": None,
        "enabled": True,
        "schedule_interval_secs": DEFAULT_INTERVAL_SECS,
        "schedule_anchor": default_anchor(now),
        "window_mode": "since_last",
        "lookback_window_secs": DEFAULT_LOOKBACK_SECS,
        "scope": {name: [] for name in SCOPES},
        "signals": [],
        "ignore_error_types": [],
        "sensitivity": "medium",
        "top_k": DEFAULT_TOP_K,
        "llm_enabled": True,
        "channels": [],
    }


def checked(wanted: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Returns the columns of the fields in `wanted`; raises `Invalid` naming the field.

    An anchor lies at most a year after `now`.
    """
    checks: Mapping[str, Check] = {**_CHECKS, "schedule_anchor": partial(_anchor, now=now)}
    return {name: checks[name](name, value) for name, value in wanted.items()}


def checked_context(wanted: ReportContext) -> ReportContext:
    """Returns the context; raises `Invalid` naming `text`, `urls` or `urls.0`."""
    text = bounds.require_text("text", wanted.text, most=MAX_CONTEXT_LENGTH)
    if len(wanted.urls) > MAX_URLS:
        raise Invalid.field("urls", f"must have at most {MAX_URLS} URLs")
    return ReportContext(
        text, [_url(f"urls.{number}", url) for number, url in enumerate(wanted.urls)]
    )


def size_of(columns: Mapping[str, Any]) -> int:
    """Returns the total size of the columns in bytes, as `ROOM` counts it."""
    texts = (columns["name"], columns["description"] or "", *columns["ignore_error_types"])
    return len("".join(texts).encode()) + sum(
        len(json.dumps(columns[name])) for name in ("scope", "channels")
    )


def _as_it_is(_field: str, value: Any) -> Any:
    return value


def _anchor(field: str, value: datetime, *, now: datetime) -> datetime:
    if value < MIN_ANCHOR:
        raise Invalid.field(field, f"must not be before {MIN_ANCHOR.year}")
    if value > now + MAX_ANCHOR_AHEAD:
        raise Invalid.field(field, f"must be at most {MAX_ANCHOR_AHEAD.days} days ahead")
    return value


def _values(field: str, values: list[str]) -> list[str]:
    """Removes duplicates and keeps the order."""
    if len(values) > MAX_VALUES:
        raise Invalid.field(field, f"must have at most {MAX_VALUES} values")
    for number, value in enumerate(values):
        where = f"{field}.{number}"
        if not 1 <= len(value) <= MAX_VALUE_LENGTH:
            raise Invalid.field(where, f"must have 1 to {MAX_VALUE_LENGTH} characters")
        bounds.require_text(where, value, most=MAX_VALUE_LENGTH)
    return list(dict.fromkeys(values))


def _scope(field: str, value: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: _values(f"{field}.{name}", value.get(name) or []) for name in SCOPES}


def _signals(field: str, values: list[str]) -> list[str]:
    """Sorts the signals in the order in which a run executes them."""
    unknown = [value for value in values if value not in NAMES]
    if unknown:
        raise Invalid.field(field, f"must be among {', '.join(NAMES)}")
    return [name for name in NAMES if name in values]


def _url(field: str, url: str) -> str:
    trimmed = bounds.require_line(field, url, most=MAX_URL_LENGTH)
    try:
        parts = urlsplit(trimmed)
        fine = parts.scheme == "https" and bool(parts.hostname) and " " not in trimmed
    except ValueError:
        fine = False
    if not fine:
        raise Invalid.field(field, "must be a URL that begins with https://")
    return trimmed


_CHECKS: Mapping[str, Check] = {
    "name": partial(bounds.require_name, most=MAX_NAME_LENGTH),
    "description": partial(bounds.require_optional_text, most=MAX_DESCRIPTION_LENGTH),
    "enabled": _as_it_is,
    "schedule_interval_secs": partial(
        bounds.require_between, least=MIN_INTERVAL_SECS, most=MAX_INTERVAL_SECS
    ),
    "window_mode": partial(bounds.require_one_of, options=WINDOW_MODES),
    "lookback_window_secs": partial(
        bounds.require_between, least=MIN_LOOKBACK_SECS, most=MAX_LOOKBACK_SECS
    ),
    "scope": _scope,
    "signals": _signals,
    "ignore_error_types": _values,
    "sensitivity": partial(bounds.require_one_of, options=SENSITIVITIES),
    "top_k": partial(bounds.require_between, least=1, most=MAX_TOP_K),
    "llm_enabled": _as_it_is,
    "channels": lambda field, value: check_channels(value, field),
}
