"""The credential of an export over HTTP."""

from flask import request

from shared.access.identity import Credential
from shared.access.identity.exporter import secret_of
from web.credentials import ACTOR_HEADER, ORG_HEADER, credential_of_request


def credential_of_export() -> Credential:
    """Returns the credential of the request: a key in any form of exporters, else the cookie's.

    Raises the errors of `credential_of_request`.
    """
    headers = request.headers
    secret = secret_of(headers.get("Authorization", ""), headers.get("x-api-key", ""))
    if not secret:
        return credential_of_request()
    return Credential.of(secret, headers.get(ORG_HEADER), headers.get(ACTOR_HEADER))
