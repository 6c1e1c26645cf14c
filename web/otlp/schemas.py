"""The bodies of exports and of their answers, for the document."""

from marshmallow import Schema, fields

from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from shared.intake.otlp.wire.signals import Signal


class Status(Schema):
    """Why an export failed: a `google.rpc.Status`."""

    code = fields.Integer(required=True, metadata={"description": "the code of gRPC"})
    message = fields.String(required=True, metadata={"description": "a message for people"})


class PartialSuccess(Schema):
    """Says which part was not accepted and why, or holds a warning."""

    errorMessage = fields.String(  # noqa: N815 the name of OpenTelemetry
        required=True, metadata={"description": "how many were rejected and why, or a warning"}
    )
    rejectedSpans = fields.String(  # noqa: N815
        metadata={"description": "the number of rejected spans, for traces"}
    )
    rejectedLogRecords = fields.String(  # noqa: N815
        metadata={"description": "the number of rejected log records, for logs"}
    )
    rejectedDataPoints = fields.String(metadata={"description": "for metrics: 0"})  # noqa: N815


class Exported(Schema):
    """The answer of an export; empty if all was accepted."""

    partialSuccess = fields.Nested(PartialSuccess)  # noqa: N815


def body_of(signal: Signal) -> dict[str, object]:
    """Returns the description of an export's body."""
    described = {"type": "array", "items": {"type": "object"}}
    return {
        "required": True,
        "content": {
            JSON: {"schema": {"type": "object", "properties": {signal.groups: described}}},
            PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
        },
    }
