"""Events that are sent and stored, as the tests of events do it."""

from tests.web.events.conftest import post, reader, store

__all__ = ["post", "reader", "store"]
