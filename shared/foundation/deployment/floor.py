"""The oldest code that may run on a schema; each release records it in the databases.

It is the code of the previous release. Migrations add, and take away only what that release does
not use, so its processes go on during and after a release, and may even start again.
"""

import json
from typing import NamedTuple

from sqlalchemy import Connection, Engine, text


class Versions(NamedTuple):
    """The schemas of a release: the revision of PostgreSQL and the migration of ClickHouse."""

    postgres: str
    clickhouse: int

    def __str__(self) -> str:
        return f"PostgreSQL {self.postgres}, ClickHouse {self.clickhouse:04d}"

    def reaches(self, oldest: "Versions") -> bool:
        """Returns whether code of these versions is not older than `oldest`."""
        return self.postgres >= oldest.postgres and self.clickhouse >= oldest.clickhouse


# The release before this one, by the commit or tag whose code the tests run, and its schemas.
PREVIOUS_COMMIT = "95e3dd3"
PREVIOUS = Versions("0012", 3)

# On the table of the revision, so that both are read together, also by code that knows neither.
_READ = "SELECT obj_description(to_regclass('alembic_version'), 'pg_class')"


def recorded(engine: Engine) -> Versions | None:
    """Returns the oldest code that may run on these databases, None if no release recorded it."""
    with engine.connect() as connection:
        comment = connection.scalar(text(_READ))
    if comment is None:
        return None
    oldest = json.loads(comment)["oldest"]
    return Versions(oldest["postgres"], oldest["clickhouse"])


def record(connection: Connection, oldest: Versions = PREVIOUS) -> None:
    """Records the oldest code that may run from now on; does nothing in an empty database."""
    if connection.scalar(text("SELECT to_regclass('alembic_version')")) is not None:
        comment = json.dumps({"oldest": oldest._asdict()})
        # COMMENT takes no parameters. The values are ours, and contain no quotes.
        connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{comment}'")
