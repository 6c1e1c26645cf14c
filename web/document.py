"""`python -m web.document` writes docs/openapi.json, whose diff shows a change of the API."""

import json
from pathlib import Path

from flask import Flask

from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from web.app import create_app
from web.openapi import DOCUMENT_URL

FILE = Path(__file__).resolve().parents[1] / "docs" / "openapi.json"

# An application opens no connection before a request needs one, so these URLs lead nowhere.
_NOWHERE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
)


def app_without_stores() -> Flask:
    """Returns the application. It can answer what needs no store, such as its document."""
    return create_app(Runtime.connect(_NOWHERE))


def text_of(app: Flask) -> str:
    """Returns the OpenAPI document in the form of the file: sorted, and one value a line."""
    document = app.test_client().get(DOCUMENT_URL).get_json()
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(text_of(app_without_stores()))
