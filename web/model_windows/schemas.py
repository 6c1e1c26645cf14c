"""Request and response schemas of the routes of model context windows."""

from marshmallow import Schema, fields

from shared.model_windows.service import MAX_MODEL_LENGTH, MAX_WINDOW
from web.params import Body, Timestamp

_MODEL = {"minLength": 1, "maxLength": MAX_MODEL_LENGTH}


class WindowBody(Body):
    """The context window of a model."""

    model_id = fields.String(
        required=True, metadata={**_MODEL, "description": "the model exactly as events spell it"}
    )
    context_window = fields.Integer(
        required=True,
        strict=True,
        metadata={
            "minimum": 0,
            "maximum": MAX_WINDOW,
            "description": "in tokens; 0: unknown",
        },
    )


class ModelQuery(Schema):
    """The model to look up."""

    model = fields.String(
        required=True, metadata={**_MODEL, "description": "the model exactly as events spell it"}
    )


class WindowRow(Schema):
    """A context window that the organization set."""

    model_id = fields.String(required=True)
    context_window = fields.Integer(
        required=True, metadata={"description": "in tokens; 0: unknown"}
    )
    updated_at = Timestamp(required=True)


class WindowList(Schema):
    """The context windows that the organization set, by model."""

    model_context_windows = fields.List(fields.Nested(WindowRow), required=True)


class ResolvedWindow(Schema):
    """The context window that the next event of a model gets."""

    model_id = fields.String(required=True)
    context_window = fields.Integer(
        required=True, allow_none=True, metadata={"description": "in tokens; null when unknown"}
    )
    source = fields.String(
        required=True,
        metadata={
            "enum": ["override", "default", "unknown"],
            "description": "source of the value: the organization, the built-in table, or none",
        },
    )
