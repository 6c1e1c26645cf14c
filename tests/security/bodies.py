"""Bodies and values for any operation, made only from the OpenAPI document.

A new route is covered as soon as it is documented. If a value cannot be derived from its type, the
schema gives an `example`, which readers of the document also like. In an example, `MARK` stands for
a text of the organization. `x-refers-to` names the list that an id comes from.
"""

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from tests.support.document import Document

MARK = "example"

_numbers = itertools.count(1)
_GUESSES = {
    "uuid": "00000000-0000-4000-8000-00000000ffff",
    "uri": "https://example.org/",
}


class Maker(NamedTuple):
    """The organization of the bodies.

    `refer` returns the id of a row of the list at a path, if any.
    """

    document: Document
    mark: str
    refer: Callable[[str], str | None]


def body_of(maker: Maker, operation: dict[str, Any]) -> Any:
    """Returns a body that the operation accepts, with marked texts, or None if it reads no JSON."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return None
    return _value(maker, content["application/json"]["schema"])


def _value(maker: Maker, schema: dict[str, Any]) -> Any:
    schema = maker.document.resolve(schema)
    if "x-refers-to" in schema:
        return maker.refer(schema["x-refers-to"]) or _GUESSES["uuid"]
    if "example" in schema:
        return _marked(schema["example"], maker.mark)
    if "properties" not in schema and not schema.keys().isdisjoint(("anyOf", "allOf", "oneOf")):
        [first, *_] = schema.get("anyOf") or schema.get("allOf") or schema["oneOf"]
        return _value(maker, first)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return _object(maker, schema)
    if kind == "array":
        least = schema.get("minItems", 0)
        return [_value(maker, schema["items"]) for _ in range(least)]
    if kind in ("integer", "number"):
        return schema.get("default", schema.get("minimum", 1))
    if kind == "boolean":
        return schema.get("default", False)
    return _text(schema, maker.mark)


def _object(maker: Maker, schema: dict[str, Any]) -> dict[str, Any]:
    required = set(schema.get("required", []))
    return {
        name: _value(maker, below)
        for name, below in schema.get("properties", {}).items()
        if name in required or "example" in maker.document.resolve(below)
    }


def _text(schema: dict[str, Any], mark: str) -> str:
    if "enum" in schema:
        return str(schema["enum"][0])
    kind = schema.get("format")
    if kind == "email":
        return f"{mark}{next(_numbers)}@example.org"
    if kind == "date-time":
        return (datetime.now(UTC) + timedelta(days=1)).isoformat()
    if kind in _GUESSES:
        return _GUESSES[kind]
    return f"{mark}-{next(_numbers)}-abcdefghijklmnop"[: schema.get("maxLength", 256)]


def _marked(example: Any, mark: str) -> Any:
    """Returns the example with the organization's mark for `MARK`; a number makes it unique."""
    if isinstance(example, str):
        return example.replace(MARK, f"{mark}{next(_numbers)}", 1)
    if isinstance(example, list):
        return [_marked(item, mark) for item in example]
    if isinstance(example, dict):
        return {name: _marked(item, mark) for name, item in example.items()}
    return example
