"""flask-smorest's blueprint, with this service's parsing of bodies and parameters."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar, cast

import flask_smorest
import marshmallow as ma
import msgspec
from flask import Request
from flask_smorest.utils import deepupdate
from webargs import core
from webargs.flaskparser import FlaskParser
from werkzeug.datastructures import MultiDict

from shared.foundation.core.errors import BadRequest, Invalid
from web.body import read_json_body
from web.statement import Statement, Write, or_statement
from web.view_docs import docs_of, keep_docs

View = TypeVar("View", bound=Callable[..., Any])
SchemaLike = ma.Schema | type[ma.Schema]


class Parser(FlaskParser):
    """Reads strict JSON, ignores unknown fields, and raises this service's errors.

    Raises `UnsupportedMediaType` for a body with another content type, `BadRequest` for one that is
    not JSON, and `Invalid` with flat field names for values that a schema refuses. A missing body
    counts as an empty object.
    """

    DEFAULT_UNKNOWN_BY_LOCATION = {  # noqa: RUF012 webargs declares it without ClassVar
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "json": ma.EXCLUDE,
    }

    def load_json(self, _req: Request, _schema: ma.Schema) -> Any:
        """Returns the decoded body."""
        body = read_json_body()
        if not body:
            return core.missing
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadRequest("the body is not JSON", code="malformed_json") from None
        except RecursionError:
            raise BadRequest("the body is nested too deeply", code="malformed_json") from None

    def load_querystring(self, req: Request, schema: ma.Schema) -> Any:
        """Returns the parameters. One without a value (`?cursor=`) counts as absent."""
        given = [(name, value) for name, value in req.args.items(multi=True) if value != ""]
        return self._makeproxy(MultiDict(given), schema)

    def handle_error(
        self, error: ma.ValidationError, *_args: object, **_kwargs: object
    ) -> NoReturn:
        """Flattens webargs' messages, which are nested under the location."""
        messages = cast("Mapping[str, object]", error.messages)
        fields: dict[str, list[str]] = {}
        for location, found in messages.items():
            _flatten(found, "", location, fields)
        raise Invalid("some fields are not valid", fields=fields) from None


def _flatten(found: object, path: str, location: str, into: dict[str, list[str]]) -> None:
    if isinstance(found, Mapping):
        for name, below in found.items():
            step = "" if name == ma.exceptions.SCHEMA else str(name)
            _flatten(below, ".".join(filter(None, (path, step))), location, into)
        return
    reasons = found if isinstance(found, list) else [found]
    name = path or ("body" if location == "json" else location)
    into.setdefault(name, []).extend(str(reason) for reason in reasons)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc] # flask-smorest is untyped
    """The routes of one resource, below /v1; the decorators keep a view's type."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, name: str, description: str) -> None:
        super().__init__(name, name, url_prefix="/v1", description=description)

    def route(self, rule: str, **options: Any) -> Callable[[View], View]:
        """Registers a view. The options are Flask's, usually `methods`."""

        def register(view: View) -> View:
            named: View = self.doc(operationId=view.__name__)(view)
            super(Blueprint, self).add_url_rule(rule, None, named, **options)
            return view

        return register

    def arguments(
        self, schema: SchemaLike, *, location: str = "json", **options: Any
    ) -> Callable[[View], View]:
        """Passes to the view the result of `schema` for the body, or for `location="query"`."""
        decorator = super().arguments(schema, location=location, **options)

        def read(view: View) -> View:
            reading: View = decorator(view)
            return self.reads_body(reading) if location == "json" else reading

        return read

    def reads_body(self, view: View) -> View:
        """Documents the errors of a body that cannot be read."""
        return self._may_answer((400, 408, 413, 415), view)

    def grants(self, view: View) -> View:
        """Documents that the route grants permissions, and that callers only grant their own.

        A 403 may then name a permission that the caller needs in addition to the route's own.
        """
        return self.doc(**{"x-grants": True})(view)

    def needs_for_others(self, permission: str) -> Callable[[View], View]:
        """Documents that `permission` is required for things that somebody else created."""
        return self.doc(**{"x-permission-for-others": permission})

    def needs_too(self, *permissions: str) -> Callable[[View], View]:
        """Documents that the route, or what its body names, needs one of these in addition."""
        return self.doc(**{"x-further-permissions": list(permissions)})

    def header(self, name: str, **details: Any) -> Callable[[View], View]:
        """Documents a header that the view reads, as an OpenAPI parameter.

        `doc(parameters=…)` would replace the parameters that other decorators document.
        """

        def add(view: View) -> View:
            docs = docs_of(view)
            parameters = docs.setdefault("arguments", {}).setdefault("parameters", [])
            parameters.append({"name": name, "in": "header", "required": False, **details})
            keep_docs(view, docs)
            return view

        return add

    def response(
        self,
        status: int,
        schema: object = None,
        *,
        errors: tuple[int, ...] = (),
        or_sql: Write | None = None,
        **options: Any,
    ) -> Callable[[View], View]:
        """Serialises the result of the view. A `Response` is only documented.

        `errors` are the statuses of errors to document in addition to those of authentication. With
        `or_sql` the request may ask for the statement that it writes (`web.statement`).
        """
        decorator = super().response(status, schema, **options)
        if or_sql is None:
            return lambda view: self._may_answer(errors, decorator(view))
        either = {"content": {"application/json": {"schema": {"oneOf": [schema, Statement]}}}}
        documented = self.doc(responses={status: either})

        def answer(view: View) -> View:
            made = decorator(cast("View", or_statement(or_sql, view)))
            return cast("View", documented(self._may_answer(errors, made)))

        return answer

    def alt_response(
        self, status: int, response: str | None = None, **options: Any
    ) -> Callable[[View], View]:
        """Documents a further answer that has a schema of its own, or the name of its status."""
        return cast("Callable[[View], View]", super().alt_response(status, response, **options))

    def _may_answer(self, errors: tuple[int, ...], view: View) -> View:
        docs = docs_of(view)
        responses = docs.setdefault("response", {}).setdefault("responses", {})
        for status in errors:
            responses.setdefault(status, []).append(HTTPStatus(status).name)
        keep_docs(view, docs)
        return view

    def doc(self, **documentation: Any) -> Callable[[View], View]:
        """Adds OpenAPI fields to the documentation of a view."""

        def add(view: View) -> View:
            docs = docs_of(view)
            docs["manual_doc"] = deepupdate(docs.get("manual_doc", {}), documentation)
            keep_docs(view, docs)
            return view

        return add
