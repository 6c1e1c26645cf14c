"""Request and response schemas of the routes of the assistant."""

from marshmallow import Schema

from web import fields


class TurnContent(Schema):
    """The content of a message."""

    text = fields.text()


class TurnMessage(Schema):
    """A message of the thread."""

    role = fields.text(enum=["user", "assistant"])
    content = fields.nested(TurnContent)


class TurnBody(Schema):
    """A question. The thread ends with it."""

    messages = fields.rows(TurnMessage)
    conversationId = fields.text("a conversation of yours, for your own use", optional=True)  # noqa: N815 the published name
    pageContext = fields.raw(  # noqa: N815 the published name
        optional=True, description="any JSON about the page that the person looks at"
    )
    model = fields.text("one of the models of /agent/health; default: the first", optional=True)
    pageActions = fields.list_of(  # noqa: N815 the published name
        fields.text(), "actions that the client can show: `open_artifact`", optional=True
    )


class TurnFrame(Schema):
    """A piece of an answer; the `type` says which of the other fields it has."""

    type = fields.text(
        enum=[
            *("text-delta", "tool-start", "tool-end", "ask-user", "ui-action"),
            *("error", "done"),
        ]
    )
    text = fields.text("the next piece of the answer", required=False)
    tool = fields.text("name of the tool", required=False)
    input = fields.raw(required=False, description="its arguments")
    ok = fields.flag("whether it returned something", required=False)
    rows = fields.integer("rows that it returned", required=False)
    ms = fields.integer("milliseconds that it took", required=False)
    callId = fields.text("the call that asks", required=False)  # noqa: N815 the published name
    question = fields.text("for the person", required=False)
    action = fields.text("`open_artifact`", required=False)
    artifact = fields.mapping("the draft: `kind`, `route` and `body`", required=False)
    message = fields.text("the reason of an error", required=False)
    usage = fields.mapping("`input_tokens`, `output_tokens` and `tool_calls`", required=False)


class AssistantHealth(Schema):
    """The state of the assistant."""

    enabled = fields.flag("a language model is configured")
    llm_configured = fields.flag("the same")
    model = fields.text("the default model", null=True)
    models = fields.list_of(fields.text(), "models that a question may name")
    default_model = fields.text("the default model", null=True)
