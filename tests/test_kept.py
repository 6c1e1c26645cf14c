"""Servers that are kept between runs, and the state that a run finds on them."""

import subprocess
import sys

import psycopg2
import pytest
from redis import Redis

from devstack.processes import leftovers
from devstack.state import StateFile
from tests.support.kept import PROJECT, kept_stack
from tests.support.stack import stack_directory

pytestmark = pytest.mark.flow


def test_servers_outlive_a_run_and_their_data_does_not() -> None:
    with stack_directory() as directory:
        try:
            with kept_stack(directory) as stack:
                assert stack is not None
                with psycopg2.connect(stack.urls.database_url) as connection:
                    connection.cursor().execute("CREATE TABLE left_behind (n int)")
                connection.close()
                stack.redis.kill()
                stack.redis.start()
                stack.redis.wait_ready()
                Redis.from_url(stack.urls.redis_url).set("left", "behind")
                pids = [server.pid for server in stack.servers]
                with kept_stack(directory) as second_run:
                    assert second_run is None

            with kept_stack(directory) as stack:
                assert stack is not None
                assert [server.pid for server in stack.servers] == pids
                with psycopg2.connect(stack.urls.database_url) as connection:
                    cursor = connection.cursor()
                    cursor.execute("SELECT to_regclass('left_behind')")
                    assert cursor.fetchone() == (None,)
                connection.close()
                assert Redis.from_url(stack.urls.redis_url).dbsize() == 0
        finally:
            command = [sys.executable, "-m", "devstack", "stop", "--directory", str(directory)]
            subprocess.run(command, cwd=PROJECT, check=True)
        assert leftovers(directory, StateFile(directory).read()) == []
