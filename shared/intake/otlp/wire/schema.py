"""OTLP's messages of protobuf, as far as they are read, for the official parser.

OpenTelemetry's own definitions would refuse a whole request for one string that is not UTF-8, and
for values that are nested a few dozen levels deep. Here texts, records, attributes and nested
values are bytes, so each of them is read alone, and only the record that it belongs to is rejected.
"""

from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_PACKAGE = "watchpost.otlp"

_TYPES = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "fixed64": FieldDescriptorProto.TYPE_FIXED64,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}
_MANY = "*"
# Of these messages the field that came last counts, and the others are absent.
_CHOICES = {"AnyValue"}

# The number and the type of each field; `*` is a list. The numbers are those of OpenTelemetry's
# definitions. Enumerations are numbers, since senders may know more values.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Request": {"groups": (1, "bytes*")},
    # Of a resource or of a scope, which is the head.
    "Group": {"head": (1, "bytes"), "members": (2, "bytes*"), "schema_url": (3, "bytes")},
    "Resource": {"attributes": (1, "bytes*")},
    "Scope": {"name": (1, "bytes"), "version": (2, "bytes"), "attributes": (3, "bytes*")},
    "Span": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "trace_state": (3, "bytes"),
        "parent_span_id": (4, "bytes"),
        "name": (5, "bytes"),
        "kind": (6, "uint64"),
        "start": (7, "fixed64"),
        "end": (8, "fixed64"),
        "attributes": (9, "bytes*"),
        "events": (11, "bytes*"),
        "links": (13, "bytes*"),
        "status": (15, "Status"),
    },
    "Status": {"message": (2, "bytes"), "code": (3, "uint64")},
    "Event": {"time": (1, "fixed64"), "name": (2, "bytes"), "attributes": (3, "bytes*")},
    "Link": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "trace_state": (3, "bytes"),
        "attributes": (4, "bytes*"),
    },
    "LogRecord": {
        "time": (1, "fixed64"),
        "severity_number": (2, "uint64"),
        "severity_text": (3, "bytes"),
        "body": (5, "AnyValue"),
        "attributes": (6, "bytes*"),
        "trace_id": (9, "bytes"),
        "span_id": (10, "bytes"),
        "observed": (11, "fixed64"),
        "event_name": (12, "bytes"),
    },
    "KeyValue": {"key": (1, "bytes"), "value": (2, "AnyValue")},
    "AnyValue": {
        "text": (1, "bytes"),
        "bool": (2, "bool"),
        "int": (3, "int64"),
        "double": (4, "double"),
        "array": (5, "bytes"),
        "object": (6, "bytes"),
        "bytes": (7, "bytes"),
    },
    # Of an array and of an object.
    "Members": {"members": (1, "bytes*")},
    # A record of any signal: the times of spans and log records, and the data of metrics.
    "Times": {
        "log": (1, "fixed64"),
        "start": (7, "fixed64"),
        "end": (8, "fixed64"),
        "observed": (11, "fixed64"),
    },
    "Metric": {
        "gauge": (5, "bytes"),
        "sum": (7, "bytes"),
        "histogram": (9, "bytes"),
        "exponential_histogram": (10, "bytes"),
        "summary": (11, "bytes"),
    },
    # What describes a record that cannot be read.
    "Described": {"span_id": (2, "bytes"), "name": (5, "bytes")},
}


def _pool() -> DescriptorPool:
    file = FileDescriptorProto(name="watchpost/otlp.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _CHOICES:
            message.oneof_decl.add(name="value")
        for field, (number, kind) in fields.items():
            added = message.field.add(name=field, number=number)
            added.label = (
                FieldDescriptorProto.LABEL_REPEATED
                if kind.endswith(_MANY)
                else FieldDescriptorProto.LABEL_OPTIONAL
            )
            kind = kind.removesuffix(_MANY)
            if kind in _TYPES:
                added.type = _TYPES[kind]
            else:
                added.type = FieldDescriptorProto.TYPE_MESSAGE
                added.type_name = f".{_PACKAGE}.{kind}"
            if name in _CHOICES:
                added.oneof_index = 0
    pool = DescriptorPool()
    pool.Add(file)
    return pool


_POOL = _pool()


def parser(name: str) -> Any:
    """Returns the function that reads a message; it raises `DecodeError` for other bytes."""
    return GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}")).FromString
