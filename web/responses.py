"""Responses whose JSON is encoded by msgspec, or was encoded long ago."""

import msgspec
from flask import Response

_encoder = msgspec.json.Encoder()


def json_response(value: object, status: int = 200) -> Response:
    """A JSON response of anything msgspec encodes; `msgspec.Raw` inside is copied as it is."""
    return raw_json_response(_encoder.encode(value), status)


def raw_json_response(body: bytes, status: int = 200) -> Response:
    """A JSON response of bytes that are JSON already."""
    return Response(body, status, mimetype="application/json")


def no_content() -> Response:
    """An answer of 204, which has neither a body nor a type of one."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
