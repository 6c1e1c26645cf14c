"""A client of the application that compares each answer with the OpenAPI document."""

import json
import re
from functools import cache
from typing import Any

from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from tests.support.document import Document
from web.document import FILE


@cache
def documented() -> Document:
    """Returns the committed document, which a test compares with the one that is served."""
    return Document(json.loads(FILE.read_text()))


class CheckedClient(FlaskClient):
    """Fails the request of a route whose answer has no documented status, type or shape."""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Sends a request. HEAD and OPTIONS have no answers of their own.

        The answer to a request with `buffered=False` belongs to its test, which reads it in pieces.
        """
        response = super().open(*args, **kwargs)
        if kwargs.get("buffered") is False:
            return response
        method = response.request.method
        template = self._template(response.request.path, method)
        # The last part of a fixed path, as in /deletions/preview, is no id of another route.
        has_answer = method not in ("HEAD", "OPTIONS") and response.status_code != 405
        if has_answer and template in documented().body["paths"]:
            documented().require(response, method, template)
        return response

    def _template(self, path: str, method: str) -> str:
        """Returns the path as the document spells it, or nothing where no route is."""
        try:
            rule, _ = self.application.url_map.bind("").match(path, method, return_rule=True)
        except HTTPException:
            return ""
        return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
