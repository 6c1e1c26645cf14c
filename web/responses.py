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
    """Returns a row of `schema`: the attributes of the sources, and the computed fields."""
    row = {
        name: getattr(source, name)
        for source in sources
        for name in _fields(schema)
        if hasattr(source, name)
    }
    return row | computed


@cache
def _fields(schema: type[Schema]) -> tuple[str, ...]:
    return tuple(schema().fields)


def no_content() -> Response:
    """Returns 204, which has neither a body nor a content type."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
