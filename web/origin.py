"""The origin of a request that brings something, for its receipt."""

from flask import request

from shared.intake.receipts.origin import Origin, Source
from web.auth import current_identity


def origin_of(source: Source) -> Origin:
    """Returns the origin of the present request."""
    key = current_identity().key
    return Origin.of_request(source, None if key is None else key.id, request.headers)
