"""Objects whose shapes `shared` declares as structs, for the schemas of requests and answers.

The values themselves are checked and made by `shared`. Here the document learns what they contain.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

import marshmallow as ma
import msgspec

_REF = "#/components/schemas/{name}"
# Marks a property until the document is complete.
_UNION = "x-union"

Schemas = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Shape:
    """The shapes that an object can have: a schema named `name`, with those that it refers to."""

    name: str
    schemas: Schemas
    # Whether the whole object with this field has the shape, and not the field alone.
    is_of_whole: bool = False


def any_of(name: str, types: Iterable[type]) -> Shape:
    """Returns the shape of an object that is one of these structs, which nothing tells apart."""
    found, schemas = _schemas(types)
    return Shape(name, {**schemas, name: {"anyOf": found}})


def tagged(name: str, tag: str, types: Iterable[type[msgspec.Struct]]) -> Shape:
    """Returns the shape of an object that is one of these structs, which have the field `tag`."""
    kinds = {str(one.__struct_config__.tag): one for one in types}
    found, schemas = _schemas(kinds.values())
    return Shape(name, {**schemas, name: _one_of(tag, dict(zip(kinds, found, strict=True)))})


def tagged_beside(name: str, tag: str, field: str, kinds: Mapping[str, type]) -> Shape:
    """Returns the shape of an object whose field `tag` tells the struct of its field `field`."""
    found, schemas = _schemas(kinds.values())
    refs = {}
    for kind, ref in zip(kinds, found, strict=True):
        whole = "".join(word.title() for word in kind.split("_")) + name
        properties = {tag: {"type": "string", "enum": [kind]}, field: ref}
        schemas[whole] = {"type": "object", "properties": properties, "required": [tag, field]}
        refs[kind] = {"$ref": _REF.format(name=whole)}
    return Shape(name, {**schemas, name: _one_of(tag, refs)}, is_of_whole=True)


def _schemas(types: Iterable[type]) -> tuple[list[dict[str, Any]], Schemas]:
    """Returns references to the structs, and the schemas of these and of all that they contain."""
    found, schemas = msgspec.json.schema_components(tuple(types), ref_template=_REF)
    for schema in schemas.values():
        del schema["title"]
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
    return list(found), schemas


def _one_of(tag: str, refs: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    mapping = {kind: ref["$ref"] for kind, ref in refs.items()}
    discriminator = {"propertyName": tag, "mapping": mapping}
    return {"oneOf": list(refs.values()), "discriminator": discriminator}


class StructField(ma.fields.Dict):
    """An object of a shape; it is loaded and dumped as it is."""

    def __init__(self, *, shape: Shape, **options: Any) -> None:
        super().__init__(**options)
        self.shape = shape


def describer(add: Callable[[str, dict[str, Any]], object]) -> Callable[..., dict[str, Any]]:
    """Returns an attribute function of apispec for shaped fields.

    `add` adds a schema to the document; each is added once.
    """
    added: Schemas = {}

    def shaped2properties(
        _converter: object, field: ma.fields.Field[Any], *, ret: dict[str, Any], **_options: object
    ) -> dict[str, Any]:
        if not isinstance(field, StructField):
            return {}
        for name, schema in field.shape.schemas.items():
            if name not in added:
                add(name, schema)
            elif added[name] != schema:
                raise ValueError(f"two shapes have the name {name}")
            added[name] = schema
        ret.pop("additionalProperties")
        ref = {"$ref": _REF.format(name=field.shape.name)}
        if field.shape.is_of_whole:
            return {_UNION: ref}
        ret.pop("type")
        return {"anyOf": [ref, {"type": "null"}]} if field.allow_none else ref

    return shaped2properties


def complete(document: dict[str, Any]) -> None:
    """Lets the schemas with fields of such shapes be one of them as a whole."""
    for schema in document["components"]["schemas"].values():
        for described in schema.get("properties", {}).values():
            if _UNION in described:
                schema["allOf"] = [described.pop(_UNION)]
