"""Rows of JSON, and JSON responses that are encoded by msgspec or already encoded."""

from functools import cache
from typing import Any

import msgspec
from flask import Response
from marshmallow import Schema

_encoder = msgspec.json.Encoder()


def json_response(value: object, status: int = 200) -> Response:
    """Returns a JSON response of any value that msgspec encodes.

    `msgspec.Raw` is copied as it is.
    """
    return raw_json_response(_encoder.encode(value), status)


def raw_json_response(body: bytes, status: int = 200) -> Response:
    """Returns a JSON response of bytes that are JSON already."""
    return Response(body, status, mimetype="application/json")


def row_of(schema: type[Schema], /, *sources: object, **computed: object) -> dict[str, Any]:
    """Returns a row of `schema`, in its order: attributes of the sources, and computed fields.

    Raises `AttributeError` for a field that nothing gives.
    """
    row = {}
    for name in _fields(schema):
        if name in computed:
            row[name] = computed[name]
        else:
            source = next((one for one in reversed(sources) if hasattr(one, name)), None)
            row[name] = getattr(source, name)
    return row


@cache
def _fields(schema: type[Schema]) -> tuple[str, ...]:
    return tuple(schema().fields)


def no_content() -> Response:
    """Returns 204, which has neither a body nor a content type."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
