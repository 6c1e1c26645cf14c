"""Separate empty databases, for tests that migrate or break them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg2

from devstack import StackUrls
from shared.foundation.clickhouse import ClickHouse

# Redis databases are numbered. Most tests use 0; those with their own databases use 9.
_REDIS_DATABASE = 9


@contextmanager
def empty_databases(urls: StackUrls) -> Iterator[StackUrls]:
    """Yields the URLs of a new PostgreSQL and a new ClickHouse database."""
    with empty_postgres(urls.database_url) as postgres, empty_clickhouse(urls.clickhouse_url) as ch:
        yield replace(
            urls,
            database_url=postgres,
            clickhouse_url=ch,
            redis_url=_other(urls.redis_url, str(_REDIS_DATABASE)),
            # The views belong to the database of all tests and stay there. An empty value means not
            # set.
            clickhouse_readonly_url="",
        )


@contextmanager
def empty_postgres(url: str) -> Iterator[str]:
    """Yields the URL of a new database on the same server."""
    name = _new_name()
    _postgres(url, f"CREATE DATABASE {name}")
    try:
        yield _other(url, name)
    finally:
        _postgres(url, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def empty_clickhouse(url: str) -> Iterator[str]:
    """Yields the URL of a new database on the same server."""
    name = _new_name()
    clickhouse = ClickHouse(url, pool_size=1)
    clickhouse.execute(f"CREATE DATABASE {name}")
    try:
        yield _other(url, name)
    finally:
        clickhouse.execute(f"DROP DATABASE {name}")
        clickhouse.close()


def _new_name() -> str:
    return f"empty_{secrets.token_hex(6)}"


def environment(urls: StackUrls) -> dict[str, str]:
    """Returns the variables that point a process to these databases."""
    return {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
        "CLICKHOUSE_READONLY_URL": urls.clickhouse_readonly_url,
    }


def _other(url: str, database: str) -> str:
    return f"{url.rpartition('/')[0]}/{database}"


def _postgres(url: str, statement: str) -> None:
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
    finally:
        connection.close()
