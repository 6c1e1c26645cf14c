"""Checks answers against the OpenAPI document, with exact types and names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from werkzeug.test import TestResponse

# Timestamps of the API: RFC 3339, UTC, microseconds, `Z`.
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FORMATS = {"date-time": _TIMESTAMP, "uuid": _UUID}

# By type and not by isinstance: true is no integer, and 1 is no boolean.
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


@dataclass(frozen=True)
class Document:
    """The decoded document."""

    body: dict[str, Any]

    def operation(self, method: str, template: str) -> dict[str, Any]:
        """Returns the description of one method of one path."""
        found: dict[str, Any] = self.body["paths"][template][method.lower()]
        return found

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yields (method, path, operation) of every route."""
        for template, item in self.body["paths"].items():
            for method in sorted(item.keys() - {"parameters"}):
                yield method.upper(), template, item[method]

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """Returns the node, or the target of its reference."""
        while "$ref" in node:
            found: Any = self.body
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
        return node

    def require(self, response: TestResponse, method: str, template: str) -> Any:
        """Checks a response against the document and returns its decoded JSON, else None."""
        told = self.operation(method, template)["responses"]
        where = f"{method} {template} {response.status_code}"
        # A defect is the only answer that no operation names.
        status = "default" if response.status_code == 500 else str(response.status_code)
        assert status in told, f"{where} is not in the document"
        content = self.resolve(told[status]).get("content")
        if content is None:
            assert response.get_data() == b"", where
            return None
        # Protocols of others answer in their own types too, and some clients unpack.
        if not response.is_json or "Content-Encoding" in response.headers:
            return None
        assert response.mimetype in content, f"{where}: {response.mimetype}"
        value = response.get_json()
        self.check(value, content[response.mimetype]["schema"], where)
        return value

    def check(self, value: object, schema: dict[str, Any], path: str) -> None:
        """Fails the test with the path if the value does not match the schema."""
        schema = self.resolve(schema)
        for part in schema.get("allOf", []):
            self.check(value, part, path)
        if "anyOf" in schema or "oneOf" in schema:
            self._check_any(value, schema, path)
            return
        types = schema.get("type", list(_TYPES))
        types = [types] if isinstance(types, str) else types
        assert any(type(value) in _TYPES[name] for name in types), f"{path}: {value!r}"
        if isinstance(value, str):
            assert value in schema.get("enum", [value]), f"{path}: {value!r}"
            pattern = _FORMATS.get(schema.get("format", ""))
            assert pattern is None or pattern.fullmatch(value), f"{path}: {value!r}"
        elif isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                self.check(item, schema["items"], f"{path}[{index}]")
        elif isinstance(value, dict):
            self._check_object(value, schema, path)

    def _check_any(self, value: object, schema: dict[str, Any], path: str) -> None:
        """Checks a value that has one of several schemas."""
        if "discriminator" in schema:
            tag, kinds = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
            assert isinstance(value, dict), path
            assert value.get(tag) in kinds, f"{path}.{tag}: {value.get(tag)!r}"
            self.check(value, {"$ref": kinds[value[tag]]}, path)
            return
        reasons, options = [], schema.get("anyOf") or schema["oneOf"]
        for option in options:
            try:
                self.check(value, option, path)
                # Where nothing tells objects apart, their fields do.
                names = self.resolve(option).get("properties", {}).keys()
                assert not isinstance(value, dict) or not names or value.keys() <= names, path
            except AssertionError as reason:
                reasons.append(str(reason))
        assert len(reasons) < len(options), "; ".join(reasons)

    def _check_object(self, value: dict[str, Any], schema: dict[str, Any], path: str) -> None:
        assert set(schema.get("required", [])) <= value.keys(), f"{path} lacks a field"
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        for name, item in value.items():
            below = properties.get(name, others)
            assert below is not False, f"{path} has the unknown field {name}"
            self.check(item, below, f"{path}.{name}")
