"""JSON responses, encoded by msgspec or already encoded."""

import msgspec
from flask import Response

_encoder = msgspec.json.Encoder()


def json_response(value: object, status: int = 200) -> Response:
    """Returns a JSON response of any value that msgspec encodes.

    `msgspec.Raw` is copied as it is.
    """
    return raw_json_response(_encoder.encode(value), status)


def raw_json_response(body: bytes, status: int = 200) -> Response:
    """Returns a JSON response of bytes that are JSON already."""
    return Response(body, status, mimetype="application/json")


def no_content() -> Response:
    """Returns 204, which has neither a body nor a content type."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
