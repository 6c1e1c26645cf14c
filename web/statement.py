"""The statement of people's SQL that answers like a list or an aggregate: `?as=sql`."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response
from marshmallow import Schema, validate

from shared.foundation.core.errors import Invalid
from shared.reading.queries.guard.lexer import MAX_LENGTH
from web import fields
from web.auth import current_identity
from web.responses import json_response

PERMISSION = "queries:run"

# Writes the statement from the parameters of the request and of its path.
Write = Callable[..., str]


class AsSql(Schema):
    """The form of the answer."""

    as_sql = fields.text(
        "`sql`: the answer is the statement for `POST /v1/queries/run` that answers the same;"
        f" needs `{PERMISSION}` too",
        optional=True,
        data_key="as",
        validate=validate.OneOf(["sql"]),
    )


class Statement(Schema):
    """A statement with all values in it."""

    sql = fields.text()


def or_statement(write: Write, view: Callable[..., Response]) -> Callable[..., Response]:
    """Returns the view that answers with a statement if the request asks for one.

    Raises `Forbidden` without `queries:run`, and `Invalid` for a statement that is too long to run.
    """

    @wraps(view)
    def answer(*args: Any, **kwargs: Any) -> Response:
        # flask-smorest passes a query as a dictionary, or its items by their names.
        query = args[0] if args else kwargs
        if query.pop("as_sql") is None:
            return view(*args, **kwargs)
        current_identity().require_any((PERMISSION,))
        sql = write(**{**query, **kwargs})
        if len(sql) > MAX_LENGTH:
            raise Invalid(
                f"the statement would be longer than {MAX_LENGTH} characters: filter by fewer or"
                " shorter values",
                code="statement_too_long",
            )
        return json_response({"sql": sql})

    return answer
