"""Request and response schemas of the routes of model context windows."""

from marshmallow import Schema

from shared.reading.model_windows.service import MAX_MODEL_LENGTH, MAX_WINDOW
from web import fields
from web.params import Body

_MODEL: fields.Details = {"minLength": 1, "maxLength": MAX_MODEL_LENGTH}


class WindowBody(Body):
    """The context window of a model."""

    model_id = fields.text("the model exactly as events spell it", **_MODEL)
    context_window = fields.integer(
        "in tokens; 0: unknown", strict=True, minimum=0, maximum=MAX_WINDOW
    )


class ModelQuery(Schema):
    """The model to look up."""

    model = fields.text("the model exactly as events spell it", **_MODEL)


class WindowRow(Schema):
    """A context window that the organization set."""

    model_id = fields.text()
    context_window = fields.integer("in tokens; 0: unknown")
    updated_at = fields.moment()


class WindowList(Schema):
    """The context windows that the organization set, by model."""

    model_context_windows = fields.rows(WindowRow)


class ResolvedWindow(Schema):
    """The context window that the next event of a model gets."""

    model_id = fields.text()
    context_window = fields.integer("in tokens; null when unknown", null=True)
    source = fields.text(
        "source of the value: the organization, the built-in table, or none",
        enum=["override", "default", "unknown"],
    )
