"""The body of a webhook and its signature (docs/use/webhooks.md)."""

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from typing import Any

from shared.foundation.core.clock import format_ts
from shared.watch.incidents.deliveries.news import News

SCHEMA_VERSION = 1


def content(news: News, delivery_id: uuid.UUID) -> dict[str, Any]:
    """Returns the body of a delivery as JSON."""
    origin = news.origin or {"id": None, "name": None}
    return {
        "schema_version": SCHEMA_VERSION,
        "event": news.event,
        "delivery_id": str(delivery_id),
        "incident": {
            "id": str(news.incident_id),
            "url": news.url or "",  # a text field, so never null
            "page_url": news.page_url or "",
            "opened_at": format_ts(news.opened_at),
        },
        "alert": {
            "id": origin["id"],
            "name": origin["name"],
            "severity": news.severity,
            "description": news.description,
        },
        "breach": {
            "value": news.value,
            "summary": news.summary,
            "group": None if news.group is None else dict(news.group),
            "level": news.level,
            "evidence": None if news.evidence is None else dict(news.evidence),
        },
    }


def body_of(stored: Mapping[str, Any]) -> bytes:
    """Encodes a delivery's content as ASCII, the same in each attempt."""
    return json.dumps(stored, separators=(",", ":")).encode()


def headers_of(
    event: str, delivery_id: uuid.UUID, body: bytes, *, secret: str, timestamp: int
) -> dict[str, str]:
    """Returns the headers of one attempt at `timestamp`, Unix seconds.

    Unsigned without a secret.
    """
    headers = {
        "X-Service-Event": event,
        "X-Service-Delivery": str(delivery_id),
        "X-Service-Timestamp": str(timestamp),
    }
    if secret:
        headers["X-Service-Signature"] = signature(secret, timestamp, body)
    return headers


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Returns `sha256=` and the HMAC-SHA256 of `<timestamp>.<body>`, in hexadecimal."""
    signed = f"{timestamp}.".encode() + body
    return f"sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"
