"""deploy/clickhouse in a real server: who may sign in, and what the reader of people's SQL may do.

The embedded server reads the files as the container does: beside the users that the image brings,
with the variables of deploy/compose.yaml.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest
from clickhouse_driver import Client
from clickhouse_driver.errors import ServerException

from devstack import DevStack
from devstack.clickhouse import ClickHouseServer
from devstack.ports import LOOPBACK, free_port
from devstack.state import StateFile
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.results.reader import Reader
from tests.deploy import files
from tests.security.sql.planted import EVALUATIONS, EVENTS, Planted, plant_foreign, plant_own, shown
from tests.support.databases import empty_postgres
from tests.support.runtime import connected, migrated, settings_for
from tests.support.stack import stack_directory

FOLDER = files.DEPLOY / "clickhouse"
READER_PASSWORD = "words-of-the-reader"
GIVEN = {
    "ADMIN_EMAIL": "admin@example.com",
    "CLICKHOUSE_PASSWORD": "words-of-the-service",
    "CLICKHOUSE_READER_PASSWORD": READER_PASSWORD,
    "POSTGRES_PASSWORD": "-",
    "ADMIN_KEY": "-",
}
# Codes of errors.
TOO_MANY_ROWS, READ_ONLY, TOO_LARGE_RESULT, NO_GRANT, SIGN_IN_REFUSED = 158, 164, 396, 497, 516

# The users of the image: one without a password, whom every network reaches.
OF_THE_IMAGE = """
<clickhouse>
    <profiles><default/><readonly><readonly>1</readonly></readonly></profiles>
    <users>
        <default>
            <password></password>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
            <access_management>1</access_management>
            <named_collection_control>1</named_collection_control>
        </default>
    </users>
    <quotas><default/></quotas>
</clickhouse>
"""


class DeployedServer(ClickHouseServer):
    """The server with the files where the container has them, and without any database."""

    def _prepare(self) -> None:
        super()._prepare()
        (self.home / "users.xml").write_text(OF_THE_IMAGE)
        for name, place in (("users.xml", "users.d"), ("server.xml", "clickhouse-local.d")):
            (self.home / place).mkdir(exist_ok=True)
            shutil.copy(FOLDER / name, self.home / place / "watchpost.xml")

    def _execute(self, statement: str) -> object:
        # The image creates the databases.
        return None if statement.startswith("CREATE DATABASE") else super()._execute(statement)

    def address(self, variable: str) -> str:
        """Returns the URL that `web` gets, with the address of this server."""
        return files.container_variables("web", GIVEN)[variable].replace(
            "clickhouse:9000", f"{LOOPBACK}:{self.port}"
        )

    @contextmanager
    def signed_in(self, user: str, password: str) -> Iterator[Client]:
        """Yields a connection as another program opens it."""
        client = Client(LOOPBACK, self.port, user=user, password=password)
        try:
            yield client
        finally:
            client.disconnect()

    def run_the_images_script(self) -> None:
        """Runs databases.sql as the image does: its client takes these two variables."""
        own = files.container_variables("clickhouse", GIVEN)
        user, password = own.get("CLICKHOUSE_USER", "default"), own.get("CLICKHOUSE_PASSWORD", "")
        with self.signed_in(user, password) as client:
            for statement in (FOLDER / "databases.sql").read_text().split(";"):
                if statement.strip():
                    client.execute(statement)


@dataclass(frozen=True)
class Deployed:
    """The server, the deployment on it, and people's SQL as `web` runs it."""

    server: DeployedServer
    runtime: Runtime
    reader: Reader
    planted: Planted

    def refused(self, user: str, password: str, sql: str) -> int:
        """Returns the code with which the server refuses a statement, or the user."""
        with (
            self.server.signed_in(user, password) as client,
            pytest.raises(ServerException) as refusal,
        ):
            client.execute(sql)
        return int(refusal.value.code)


@pytest.fixture(scope="module")
def deployed(stack: DevStack) -> Iterator[Deployed]:
    with ExitStack() as ended:
        directory = ended.enter_context(stack_directory())
        patch = ended.enter_context(pytest.MonkeyPatch.context())
        for name, value in files.container_variables("clickhouse", GIVEN).items():
            patch.setenv(name, value)
        server = DeployedServer(StateFile(directory), free_port())
        server.start()
        ended.callback(server.stop)
        server.wait_ready()
        server.run_the_images_script()
        urls = replace(
            stack.urls,
            database_url=ended.enter_context(empty_postgres(stack.urls.database_url)),
            clickhouse_url=server.address("CLICKHOUSE_URL"),
            clickhouse_readonly_url=server.address("CLICKHOUSE_READONLY_URL"),
        )
        settings = settings_for(urls)
        migrated(settings)
        runtime = ended.enter_context(connected(settings))
        reader = Reader(urls.clickhouse_readonly_url, pool_size=1)
        ended.callback(reader.close)
        own, others = plant_own(runtime), (plant_foreign(runtime), plant_foreign(runtime))
        yield Deployed(server, runtime, reader, Planted(own, others))


def test_the_image_makes_the_databases_and_the_server_its_settings(deployed: Deployed) -> None:
    names = {name for (name,) in deployed.runtime.clickhouse.rows("SHOW DATABASES")}
    assert {"watchpost", "analytics"} <= names
    for setting in ElementTree.parse(FOLDER / "server.xml").getroot():  # noqa: S314 our own file
        sql = "SELECT value FROM system.server_settings WHERE name = {name:String}"
        assert deployed.runtime.clickhouse.rows(sql, {"name": setting.tag}) == [(setting.text,)]


@pytest.mark.parametrize(
    ("user", "password"),
    [("watchpost", ""), ("watchpost", "wrong"), ("reader", ""), ("watchpost_views", "")],
)
def test_a_password_is_needed_and_some_cannot_sign_in(
    deployed: Deployed, user: str, password: str
) -> None:
    assert deployed.refused(user, password, "SELECT 1") == SIGN_IN_REFUSED


def test_users_without_a_password_are_on_this_machine_only(deployed: Deployed) -> None:
    networks = {
        str(name): (set(addresses), names, patterns, likes)
        for name, addresses, names, patterns, likes in deployed.runtime.clickhouse.rows(
            "SELECT name, host_ip, host_names, host_names_regexp, host_names_like FROM system.users"
        )
    }
    assert set(networks) == {"default", "watchpost", "reader", "watchpost_views"}
    assert networks["default"] == (set(), ["localhost"], [], [])
    assert networks["watchpost_views"] == (set(), [], [], [])


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT count() FROM watchpost.events", NO_GRANT),
        ("SELECT count() FROM watchpost.evaluations", NO_GRANT),
        ("SELECT count() FROM system.users", NO_GRANT),
        ("SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')", NO_GRANT),
        ("CREATE TABLE analytics.t (n Int8) ENGINE = Memory", NO_GRANT),
        ("INSERT INTO analytics.events (id) VALUES (1)", NO_GRANT),
        ("DROP VIEW analytics.events", NO_GRANT),
        ("CREATE USER another", NO_GRANT),
        ("SET max_execution_time = 0", READ_ONLY),
        ("SELECT 1 SETTINGS readonly = 0", READ_ONLY),
        ("SELECT count() FROM numbers(600000000000)", TOO_MANY_ROWS),
    ],
)
def test_the_reader_reads_three_views_and_nothing_else(
    deployed: Deployed, sql: str, code: int
) -> None:
    assert deployed.refused("reader", READER_PASSWORD, sql) == code


def test_the_reader_has_every_setting_of_the_file(deployed: Deployed) -> None:
    profile = ElementTree.parse(FOLDER / "users.xml").find("profiles/reader")  # noqa: S314 our own
    assert profile is not None
    wanted = {setting.tag: setting.text for setting in profile}
    # Those of the result count for the whole statement, so an expression in it does not see them.
    of_result = {"limit", "max_result_bytes"}
    with deployed.server.signed_in("reader", READER_PASSWORD) as client:
        found = dict(client.execute("SELECT name, value FROM system.settings"))
        assert {name: found[name] for name in wanted} == wanted | dict.fromkeys(of_result, "0")
        assert len(client.execute("SELECT number FROM numbers(20000)")) == 10_001
    large = "SELECT repeat(toString(number), 3000) FROM numbers(9000)"
    assert deployed.refused("reader", READER_PASSWORD, large) == TOO_LARGE_RESULT


def test_a_statement_sees_the_rows_of_its_organization(deployed: Deployed) -> None:
    own, other = deployed.planted.own.id, deployed.planted.others[0].id
    counted = "SELECT (SELECT count() FROM events), (SELECT count() FROM evaluations)"
    assert deployed.reader.run(own, counted, {}).rows == [(12, 5)]
    assert deployed.reader.run(other, counted, {}).rows == [(EVENTS, EVALUATIONS)]
    whole = deployed.reader.run(own, "SELECT * FROM agent_sessions", {})
    assert whole.rows
    assert not deployed.planted.leaks(shown(whole.rows), whole.rows)
    with deployed.server.signed_in("reader", READER_PASSWORD) as client:
        # A query without the name of an organization.
        assert client.execute("SELECT count() FROM analytics.events") == [(0,)]
