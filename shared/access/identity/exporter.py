"""The forms in which exporters of OpenTelemetry send a key, over HTTP and gRPC alike."""

import binascii
from base64 import b64decode


def secret_of(authorization: str, api_key: str) -> bytes:
    """Returns the secret of the values of `authorization` and `x-api-key`; b"" if there is none.

    A bearer, the password of `Basic` (Langfuse), or the bare key (Logfire). Header values are text
    of Latin-1.
    """
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() == "basic":
        secret = _password(rest.strip())
    elif scheme.lower() == "bearer":
        secret = rest.strip()
    else:
        secret = authorization.strip()
    return (secret or api_key.strip()).encode("latin-1", errors="replace")


def _password(encoded: str) -> str:
    try:
        return b64decode(encoded, validate=True).decode("latin-1").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
