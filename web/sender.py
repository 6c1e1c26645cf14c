"""The sender of a request that adds something."""

from functools import partial

from flask import request

from shared.intake.ingest.sender import Sender
from shared.intake.receipts.origin import Origin, Source
from web.auth import current_identity
from web.limits import admit


def sender_by(source: Source) -> Sender:
    """Returns the sender of the present request, which came in by `source`."""
    one = current_identity()
    origin = Origin.of_request(source, None if one.key is None else one.key.id, request.headers)
    return Sender(one.org_id, one.org_slug, one.epoch, origin, partial(admit, one))
