"""Limits of requests: checked before a request does anything, and told in its answer.

The answer has the header fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers), in its
present form, which can name several limits at once.
"""

from flask import Flask, Response, g

from shared.access.identity import Identity
from shared.access.limits.rules import Quota
from shared.access.limits.service import OverLimit
from web.state import state

_POLICY = "RateLimit-Policy"
_LEFT = "RateLimit"


def init_app(app: Flask) -> None:
    """Registers the hook."""
    app.after_request(_tell)


def admit(identity: Identity, events: int | None = None) -> None:
    """Counts a request that brings `events`, None for one that brings none. Raises `OverLimit`."""
    key_id = "" if identity.key is None else str(identity.key.id)
    try:
        g.quotas = state().limits.admit(identity.org_id, key_id, identity.epoch, events)
    except OverLimit as refusal:
        g.quotas = refusal.quotas
        raise


def _tell(response: Response) -> Response:
    quotas: tuple[Quota, ...] = g.get("quotas", ())
    if quotas:
        response.headers[_POLICY] = ", ".join(
            f'"{one.name}";q={one.limit};w={one.window_secs}' for one in quotas
        )
        response.headers[_LEFT] = ", ".join(
            f'"{one.name}";r={one.remaining};t={max(one.reset_secs, one.retry_secs)}'
            for one in quotas
        )
    return response
