"""`python -m web.document` prints the OpenAPI document, for the client's types."""

import sys

from shared.foundation.core.config import Settings
from shared.foundation.deployment.runtime import Runtime
from web.app import create_app
from web.openapi import DOCUMENT_URL

# An application opens no connection before a request needs one, so these URLs lead nowhere.
_NOWHERE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
)


def main() -> None:
    """Prints the document as JSON."""
    client = create_app(Runtime.connect(_NOWHERE)).test_client()
    sys.stdout.write(client.get(DOCUMENT_URL).get_data(as_text=True))


if __name__ == "__main__":
    main()
