"""Events, sent and stored as in the tests of events."""

from tests.web.events.conftest import post, reader, store

__all__ = ["post", "reader", "store"]
