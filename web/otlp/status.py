"""The route that says what arrives over OpenTelemetry, and where to send it."""

from typing import Any
from urllib.parse import urlsplit

from flask import request
from marshmallow import Schema

from shared.foundation.core.config import Settings
from shared.intake.otlp.status import MAX_UNMAPPED, status_of
from web import fields
from web.auth import current_org_id, requires_any
from web.blueprint import Blueprint
from web.responses import row_of
from web.state import runtime

blueprint = Blueprint("otel", "What arrives over OpenTelemetry")


class OtelEndpoints(Schema):
    """Where to send."""

    http = fields.text("base URL for OTLP over HTTP; exporters add `/v1/traces`")
    grpc = fields.text("URL for OTLP over gRPC, https with TLS; null if it is off", null=True)


class OtelUnmapped(Schema):
    """An attribute that no rule names."""

    attribute = fields.text("its name, numbers between dots as `N`")
    count = fields.integer("spans that had it")


class OtelService(Schema):
    """A service that sent in the last 24 hours."""

    name = fields.text("`service.name`")
    event_count = fields.integer("events that were made of its spans and log records")
    spans = fields.integer("accepted spans")
    rejected = fields.integer("bad spans and log records")
    not_stored = fields.integer("accepted ones that became no event by choice")
    last_received_at = fields.moment()
    content_missing = fields.flag("calls of models came, and none had content")
    unmapped = fields.rows(
        OtelUnmapped,
        f"the {MAX_UNMAPPED} most frequent attributes of agents, models, tools, retrievals and"
        " guardrails that no rule names",
    )


class OtelStatus(Schema):
    """The arrivals of the last 24 hours, counted by the hour."""

    enabled = fields.flag("the setting `otel.ingest_enabled`")
    events_24h = fields.integer("events that were made of spans and log records")
    last_received_at = fields.moment("null if nothing came", null=True)
    content_missing = fields.flag("calls of models came, and none had content")
    session_conflicts = fields.integer("traces with names of more than one session")
    endpoints = fields.nested(OtelEndpoints)
    services = fields.rows(OtelService, "most events first")


@blueprint.route("/otel/status")
@requires_any("events:read", "settings:read")
@blueprint.response(200, OtelStatus)
def get_otel_status() -> dict[str, Any]:
    """Show what arrived over OpenTelemetry in the last 24 hours, and where to send it."""
    return row_of(OtelStatus, status_of(runtime(), current_org_id()), endpoints=_endpoints())


def _endpoints() -> dict[str, str | None]:
    settings = runtime().settings
    base = (settings.public_url or request.host_url).rstrip("/")
    return {"http": base, "grpc": settings.otlp_grpc_public_url or _own_grpc(settings, base)}


def _own_grpc(settings: Settings, base: str) -> str | None:
    """Returns the URL of `otlp-grpc` itself, None if it is off."""
    host, port = urlsplit(base).hostname or "", settings.otlp_grpc_port
    if ":" in host:
        host = f"[{host}]"  # an IPv6 address
    scheme = "http" if settings.otlp_grpc_tls_cert is None else "https"
    return f"{scheme}://{host}:{port}" if port else None
