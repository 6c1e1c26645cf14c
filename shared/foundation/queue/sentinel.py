"""Clients that ask sentinels which server is the primary, each time they connect."""

from typing import Any

import redis
from redis.connection import parse_url
from redis.sentinel import Sentinel, SentinelManagedConnection, SentinelManagedSSLConnection

from shared.foundation.core.redis_url import SentinelUrl

# Sentinels have accounts of their own.
_LOGIN = {"sentinel_username": "username", "sentinel_password": "password"}
# One that does not answer delays each connection by this, until another one is asked first.
_SENTINEL_TIMEOUT_SECS = 1


class _ClosedAfterErrors(SentinelManagedConnection):
    """A connection that a timeout closes, as redis-py's other classes do.

    Left open, it would take the late answer for that of its next command.
    """

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        return super().read_response(*arguments, **{"disconnect_on_error": True} | options)


class _TlsClosedAfterErrors(_ClosedAfterErrors, SentinelManagedSSLConnection):
    pass


def connect_by_sentinels(url: SentinelUrl, **options: Any) -> redis.Redis:
    """Creates a client of the primary, with redis-py's `options` for its connections.

    Options of the URL win. With TLS, sentinels are reached over TLS too, with the same options.
    After a failover the connections to the previous primary fail, and others are made to the new
    one. A write that a demoted primary refuses is a lost connection, for `redis.ConnectionError`.
    """
    # redis-py leaves these functions untyped.
    given = options | parse_url(url.server)  # type: ignore[no-untyped-call]
    del given["host"]
    tls = given.pop("connection_class", None) is not None
    login = {name: given.pop(key) for key, name in _LOGIN.items() if key in given}
    timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _SENTINEL_TIMEOUT_SECS)
    certificates = {name: value for name, value in given.items() if name.startswith("ssl_")}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        url.sentinels,
        sentinel_kwargs=timeouts
        | {"retry": options["retry"], "ssl": tls, **(certificates if tls else {}), **login},
    )
    client: redis.Redis = sentinel.master_for(  # type: ignore[no-untyped-call]
        url.primary,
        connection_class=_TlsClosedAfterErrors if tls else _ClosedAfterErrors,
        **given,
    )
    return client
