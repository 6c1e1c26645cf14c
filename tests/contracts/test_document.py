"""The OpenAPI document is committed, and it follows some rules about all operations."""

import re
from collections.abc import Iterator
from typing import Any

from flask import Flask

from tests.support.document import Document
from web.document import FILE, text_of


def test_the_file_is_the_document_of_the_application(app_without_stores: Flask) -> None:
    """Its diff shows what a change means for clients."""
    is_current = FILE.read_text() == text_of(app_without_stores)
    assert is_current, "run bin/ui types, and read the diff of docs/openapi.json"


def test_an_answer_has_no_field_that_is_not_described(document: Document) -> None:
    answers = [one["responses"] for _, _, one in document.operations()]
    objects = [one for one in _reached(document, answers, set()) if "properties" in one]
    # Parts of rows that are made from structs: the tests of what makes them compare their fields.
    schemas = document.body["components"]["schemas"].values()
    unions = [one for one in schemas if "oneOf" in one or "anyOf" in one]
    structs = list(_reached(document, unions, set()))
    rows = [one for one in objects if one not in structs]
    assert len(rows) > 100
    assert [one for one in rows if one.get("additionalProperties") is not False] == []


def test_a_page_has_a_limit_that_is_clamped(document: Document) -> None:
    """A larger number is accepted and clamped. A bound would make strict clients refuse it."""
    for _, path, operation in document.operations():
        for limit in [one for one in operation["parameters"] if one["name"] == "limit"]:
            schema = limit["schema"]
            assert schema.keys() == {"type", "minimum", "default"}, path
            clamped = re.fullmatch(
                r"rows per page; a larger number than (\d+) counts as \1", limit["description"]
            )
            assert clamped is not None, path
            assert 1 == schema["minimum"] <= schema["default"] <= int(clamped[1]), path


def test_every_operation_names_the_headers_that_it_reads(document: Document) -> None:
    for method, path, operation in document.operations():
        headers = {
            parameter["name"]
            for parameter in operation["parameters"]
            if parameter["in"] == "header"
        }
        expected = {"X-Request-Id"}
        if operation["security"]:
            expected.add("X-Service-Org")
        if (method, path) == ("POST", "/v1/events"):
            expected.add("Content-Encoding")
        assert expected <= headers, f"{method} {path}"


def test_every_operation_names_the_errors_that_it_can_end_in(document: Document) -> None:
    for method, path, operation in document.operations():
        expected = {"default"}
        if operation["security"]:
            # An unavailable store and an unknown X-Service-Org can happen with every credential.
            expected |= {"401", "403", "404", "503"}
        if "requestBody" in operation:
            expected |= {"400", "413", "415", "422"}
        if any(parameter["in"] == "query" for parameter in operation["parameters"]):
            expected.add("422")
        assert expected <= operation["responses"].keys(), f"{method} {path}"


def test_responses_are_schemas_and_not_free_json(document: Document) -> None:
    for method, path, operation in document.operations():
        if path == "/v1/openapi.json":
            continue
        for status, told in operation["responses"].items():
            if status == "204" or (path, status) == ("/v1/mcp", "202"):
                continue
            schemas = [one["schema"] for one in document.resolve(told)["content"].values()]
            for given in (one for schema in schemas for one in schema.get("oneOf", [schema])):
                schema = document.resolve(given)
                where = f"{method} {path} {status}"
                assert schema["type"] in ("object", "array"), where
                assert schema.get("properties") or schema["items"], where


def test_no_schema_names_a_type_or_a_value_twice(document: Document) -> None:
    """JSON Schema forbids it, and fuzzers stop at it."""
    lists = [
        below[word]
        for below in _objects(document.body)
        for word in ("type", "enum", "required")
        if isinstance(below.get(word), list)
    ]
    assert ["boolean", "string", "integer", "array", "null"] in lists
    assert [found for found in lists if len(found) != len(set(found))] == []


def test_the_field_of_a_discriminator_has_one_value_in_each_schema(document: Document) -> None:
    told = [below for below in _objects(document.body) if "discriminator" in below]
    tags = {schema["discriminator"]["propertyName"] for schema in told}
    assert {"kind", "trigger_kind"} <= tags
    for schema in told:
        tag, kinds = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
        assert {one["$ref"] for one in schema["oneOf"]} == set(kinds.values())
        for kind, ref in kinds.items():
            one = document.resolve({"$ref": ref})
            assert one["properties"][tag]["enum"] == [kind]
            assert tag in one["required"]


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    """Yields every JSON object inside a part of the document, and the part itself."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    for below in part if isinstance(part, list) else ():
        yield from _objects(below)


def _reached(document: Document, part: Any, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Yields every JSON object inside a part of the document and behind its references."""
    for below in _objects(part):
        if below.get("$ref") not in seen:
            yield below
            if isinstance(target := below.get("$ref"), str):
                seen.add(target)
                yield from _reached(document, document.resolve(below), seen)
