"""Archives that somebody wrote by hand, with the right checksums: refused before anything changes.

Each test takes a real export and changes it as an attacker would.
"""

import hashlib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from sqlalchemy import inspect, text

from shared.access.organizations import lifecycle
from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import open_objects
from shared.foundation.queue.waiting import event_stream
from shared.intake.ingest.dead_letters import STREAM_KEY
from shared.intake.otlp.assignment.state import trace_key
from shared.intake.otlp.assignment.waiting import WaitingTrace
from shared.intake.otlp.records import LogRecord, Records, Resource, Scope
from shared.upkeep.backup import manifest, redis_rows
from shared.upkeep.backup.create import create
from shared.upkeep.backup.files import BackupWriter, blocks, lines, unpacked
from shared.upkeep.backup.listing import verify
from shared.upkeep.backup.manifest import BackupColumn, BackupFile, BackupTable
from shared.upkeep.backup.moving import import_organization
from shared.upkeep.backup.restore import restore
from tests.support.runtime import Org, make_org
from tests.support.tenants import fill

_MIB = 1024 * 1024
_TRACE = "0" * 32


def quiet(_progress: str) -> None:
    """Takes progress that no test reads."""


class Forger:
    """An export and the means to change it; `finish` writes its manifest, with its digest."""

    def __init__(self, place: Path, org: Org, other: Org) -> None:
        self.objects = open_objects(str(place))
        self.found = manifest.read(self.objects)
        self.org, self.other = org, other

    def table(self, name: str) -> BackupTable:
        """Returns a table of the manifest."""
        [table] = [one for one in self.found.tables if one.name == name]
        return table

    def rows(self, name: str) -> list[Any]:
        """Returns the rows of a table: lines of PostgreSQL, or lists."""
        table = self.table(name)
        if table.store == "postgres":
            return [line for file in table.files for line in lines(self.objects, file)]
        read = (blocks(self.objects, table, file) for file in table.files)
        return [row for file in read for block in file for row in block]

    def write(self, table: BackupTable, rows: list[Any]) -> None:
        """Replaces the rows of a table, and adds the table if it is new."""
        table.files, table.rows, table.id_sum = [], 0, None
        writer = BackupWriter(self.objects, table, quiet)
        if table.store == "postgres":
            for row in rows:
                writer.write(row)
        else:
            writer.add_rows(rows)
        writer.finish()
        if table not in self.found.tables:
            self.found.tables.append(table)

    def replace(self, name: str, old: bytes, new: bytes) -> None:
        """Replaces bytes in the lines of a table of PostgreSQL."""
        rows = self.rows(name)
        changed = [row.replace(old, new) for row in rows]
        assert changed != rows
        self.write(self.table(name), changed)

    def put(self, table: BackupTable, content: bytes, rows: int) -> None:
        """Replaces the files of a table by one with this content."""
        name = table.file_name(0)
        digest = hashlib.sha256(content).hexdigest()
        table.files = [BackupFile(name, self.objects.put(name, [content]), rows, digest)]
        table.rows = rows

    def finish(self) -> None:
        """Writes the manifest."""
        manifest.write(self.objects, self.found)


@pytest.fixture
def forger(runtime: Runtime, org: Org, tmp_path: Path) -> Forger:
    fill(runtime, org)
    other = make_org(runtime)
    fill(runtime, other)
    with runtime.postgres.transaction() as session:
        organization = lifecycle.require(session, org.slug)
    runtime.redis.hset(trace_key(org.id, _TRACE), "s", "one")
    runtime.redis.pexpire(trace_key(org.id, _TRACE), 60_000)
    create(runtime, open_objects(str(tmp_path / "one")), quiet, organization)
    return Forger(tmp_path / "one", org, other)


def everything(runtime: Runtime) -> dict[str, Any]:
    """Returns the content of all stores, without what the servers say about themselves."""
    found: dict[str, Any] = {}
    with runtime.postgres.transaction() as session:
        for table in inspect(session.connection()).get_table_names():
            rows = session.scalars(text(f"SELECT row::text FROM {table} AS row ORDER BY 1"))
            found[table] = list(rows)
    for table in ("events", "agent_sessions", "evaluations"):
        # Without FINAL a merge in the background would change the number.
        count = f"SELECT count() FROM {table} FINAL"
        found[f"clickhouse.{table}"] = runtime.clickhouse.rows(count)
    # Keys that end by themselves may do so meanwhile; a key that is made to end is missed here.
    lasting = [key for key in runtime.redis.scan_iter() if runtime.redis.ttl(key) == -1]
    return found | {str(key): runtime.redis.dump(key) for key in lasting}


def an_instance_key(forged: Forger) -> None:
    table = forged.table("api_keys")
    at = [column.name for column in table.columns].index("org_id")
    columns = [
        BackupColumn(one.name, "text" if one.name == "org_id" else one.type)
        for one in table.columns
    ]
    rows = []
    for line in forged.rows("api_keys"):
        values = line.rstrip(b"\n").split(b"\t")
        values[at] = b"\\N"
        rows.append(b"\t".join(values) + b"\n")
    forged.write(BackupTable("postgres", "public.api_keys", columns), rows)


def a_key_of_no_organization(forged: Forger) -> None:
    forged.replace("api_keys", forged.org.id.encode(), b"\\N")


def a_stranger_at_the_provider(forged: Forger) -> None:
    names = [("issuer", "text"), ("subject", "text"), ("user_id", "uuid"), ("created_at", "text")]
    columns = [BackupColumn(name, type_) for name, type_ in names]
    columns[-1] = BackupColumn("created_at", "timestamp with time zone")
    user_id = forged.rows("users")[0].split(b"\t")[0]
    line = b"\t".join((b"https://idp", b"mallory", user_id, b"now")) + b"\n"
    forged.write(BackupTable("postgres", "external_identities", columns), [line])


def a_program(forged: Forger) -> None:
    name = "users (email) FROM PROGRAM 'id'; COPY users"
    forged.found.tables.append(BackupTable("postgres", name, [BackupColumn("email", "text")]))


def a_column_with_a_statement(forged: Forger) -> None:
    columns = forged.table("alerts").columns
    columns[0] = BackupColumn('id") FROM PROGRAM $$id$$; COPY alerts ("id', columns[0].type)


def a_request_of_clickhouse(forged: Forger) -> None:
    name = "FUNCTION url('http://127.0.0.1:1/', TSV, 'a String') SELECT payload FROM events --"
    forged.found.tables.append(BackupTable("clickhouse", name, forged.table("events").columns))


def events_of_another(forged: Forger) -> None:
    rows = forged.rows("batches")
    rows[0][0] = event_stream(forged.other.id).encode()
    forged.write(forged.table("batches"), rows)


def an_end_of_the_events_of_another(forged: Forger) -> None:
    rows = forged.rows("decisions")
    rows[0][:2] = [event_stream(forged.other.id).encode(), 1]
    forged.write(forged.table("decisions"), rows)


def a_row_of_another(forged: Forger) -> None:
    forged.replace("alerts", forged.org.id.encode(), forged.other.id.encode())


def stored_events_of_another(forged: Forger) -> None:
    rows = forged.rows("events")
    rows[0][0] = forged.other.id.encode()
    forged.write(forged.table("events"), rows)


def a_second_organization(forged: Forger) -> None:
    [line] = forged.rows("organizations")
    other = line.replace(forged.org.id.encode(), forged.other.id.encode())
    forged.write(forged.table("organizations"), [line, other])


def an_administrator_of_the_instance(forged: Forger) -> None:
    table = forged.table("memberships")
    at = [column.name for column in table.columns].index("permission_added")
    [line] = forged.rows("memberships")
    values = line.rstrip(b"\n").split(b"\t")
    # COPY, and then the array, take the backslash away.
    values[at] = b'{"orgs:\\\\\\\\admin"}'
    forged.write(table, [b"\t".join(values) + b"\n"])


def a_member_with_all_permissions(forged: Forger) -> None:
    table = forged.table("memberships")
    at = [column.name for column in table.columns].index("permission_added")
    [line] = forged.rows("memberships")
    values = line.rstrip(b"\n").split(b"\t")
    values[at] = b"{events:read,orgs:admin}"
    forged.write(table, [b"\t".join(values) + b"\n"])


def an_id_that_is_none(forged: Forger) -> None:
    forged.found.organization = manifest.ExportedOrganization("*", forged.org.slug, "")


def an_entry_that_stops_workers(forged: Forger) -> None:
    rows = forged.rows("batches")
    rows[0][2] = [b"data", b""]
    forged.write(forged.table("batches"), rows)


def a_salt_with_a_statement(forged: Forger) -> None:
    table = forged.table("organizations")
    at = [column.name for column in table.columns].index("deletion_salt")
    [line] = forged.rows("organizations")
    values = line.rstrip(b"\n").split(b"\t")
    values[at] = b"'), 'x') OR 1 --"
    forged.write(table, [b"\t".join(values) + b"\n"])


def a_file_elsewhere(forged: Forger) -> None:
    [file] = forged.table("events").files
    forged.table("events").files = [
        BackupFile("../one/" + file.name, file.size, file.rows, file.sha256)
    ]


def an_end_that_is_no_moment(forged: Forger) -> None:
    forged.found.finished_at = "now() --"


def a_point_without_a_zone(forged: Forger) -> None:
    forged.found.point_at = "2026-11-23T10:00:00"


def a_bomb(forged: Forger) -> None:
    content = (200 * _MIB).to_bytes(4, "little") + b"\xdc\xff\xff" + b"\0" * 300 * _MIB
    forged.put(forged.table("events"), zstandard.ZstdCompressor().compress(content), 1)


def an_endless_line(forged: Forger) -> None:
    packed = zstandard.ZstdCompressor().compress(b"x" * 300 * _MIB)
    forged.put(forged.table("alerts"), packed, 1)


@pytest.mark.parametrize(
    "forge",
    [
        an_instance_key,
        a_key_of_no_organization,
        a_stranger_at_the_provider,
        a_program,
        a_column_with_a_statement,
        a_request_of_clickhouse,
        events_of_another,
        an_end_of_the_events_of_another,
        a_row_of_another,
        stored_events_of_another,
        a_second_organization,
        an_administrator_of_the_instance,
        a_member_with_all_permissions,
        an_id_that_is_none,
        an_entry_that_stops_workers,
        a_salt_with_a_statement,
        a_file_elsewhere,
        an_end_that_is_no_moment,
        a_point_without_a_zone,
        a_bomb,
        an_endless_line,
    ],
)
def test_it_is_refused_and_nothing_changes(
    runtime: Runtime, forger: Forger, forge: Callable[[Forger], None]
) -> None:
    forge(forger)
    forger.finish()
    before = everything(runtime)
    with pytest.raises(Conflict, match=r"refused|not as it was written"):
        import_organization(runtime, forger.objects, quiet, f"{forger.org.slug}-copy")
    assert everything(runtime) == before


def row_of_redis(kind: str, org: Org) -> list[Any]:
    """Returns a well-formed row of an organization."""
    entry = [b"slug", org.slug.encode(), b"request_id", b"r", b"data", b"{}"]
    if kind == redis_rows.WAITING:
        log = LogRecord(_TRACE, "", 1, "", "named", "text", {}, 0, 0, 1)
        parts = [(1, Records(1, [Resource({})], [Scope("", "", {})], [], [log]))]
        packed = msgspec.msgpack.encode(WaitingTrace(org.slug, parts))
        return [org.id.encode(), 0, _TRACE.encode(), packed]
    if kind == redis_rows.DECISIONS:
        return [trace_key(org.id, _TRACE).encode(), 60_000, [b"s", b"one"]]
    if kind == redis_rows.DEAD:
        owner = [b"org_id", org.id.encode(), b"slug", org.slug.encode()]
        return [STREAM_KEY.encode(), b"1-1", [*owner, b"reason", b"bad", b"data", b"{}"]]
    if kind == redis_rows.RECORDS:
        return [f"otlp:records:{org.id}:0".encode(), b"1-1", entry]
    return [event_stream(org.id).encode(), b"1-1", entry, None]


@pytest.mark.parametrize("kind", redis_rows.COLUMNS)
def test_a_row_of_redis_is_only_of_the_organization_of_the_archive(
    runtime: Runtime, forger: Forger, kind: str
) -> None:
    known = [table for table in forger.found.tables if table.name == kind]
    [table] = known or [BackupTable("redis", kind, redis_rows.COLUMNS[kind])]
    forger.write(table, [row_of_redis(kind, forger.org)])
    forger.finish()
    made = import_organization(runtime, forger.objects, quiet, f"{forger.org.slug}-own")
    assert made.new_id != forger.org.uuid
    forger.write(table, [row_of_redis(kind, forger.other)])
    forger.finish()
    before = everything(runtime)
    with pytest.raises(Conflict, match="refused"):
        import_organization(runtime, forger.objects, quiet, f"{forger.org.slug}-copy")
    assert everything(runtime) == before


def test_a_backup_names_no_other_table_either(runtime: Runtime, forger: Forger) -> None:
    a_program(forger)
    forger.found.kind = "deployment"
    forger.finish()
    with pytest.raises(Conflict, match="refused"):
        restore(runtime, forger.objects, quiet)


def test_a_key_of_an_archive_is_never_live(runtime: Runtime, forger: Forger) -> None:
    [line] = forger.rows("api_keys")
    values = line.rstrip(b"\n").split(b"\t")
    names = [column.name for column in forger.table("api_keys").columns]
    values[names.index("revoked_at")] = b"\\N"
    forger.write(forger.table("api_keys"), [b"\t".join(values) + b"\n"])
    forger.finish()
    made = import_organization(runtime, forger.objects, quiet, f"{forger.org.slug}-copy")
    with runtime.postgres.transaction() as session:
        live = text("SELECT count(*) FROM api_keys WHERE org_id = :org AND revoked_at IS NULL")
        assert session.scalar(live, {"org": made.new_id}) == 0


@pytest.fixture
def small(tmp_path: Path) -> Forger:
    """An archive with one table, which needs no server to be read."""
    objects = open_objects(str(tmp_path / "small"))
    moment = "2026-11-23T00:00:00Z"
    made = manifest.Manifest("id", "deployment", "1", 1, moment, moment)
    made.tables = [BackupTable("postgres", "alerts", [BackupColumn("name", "text")])]
    manifest.write(objects, made)
    none = Org(uuid.UUID(int=0), "")
    return Forger(tmp_path / "small", none, none)


def test_a_bomb_is_unpacked_in_small_pieces(small: Forger) -> None:
    table = small.table("alerts")
    packed = zstandard.ZstdCompressor().compress(b"\n" * 512 * _MIB)
    assert len(packed) < _MIB
    small.put(table, packed, 1)
    [file] = table.files
    assert max(map(len, unpacked(small.objects, file))) <= 32 * _MIB
    with pytest.raises(Conflict, match="not as it was written"):
        list(lines(small.objects, file))


def test_a_window_of_much_memory_is_refused(small: Forger) -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    stream_of = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    packed = stream_of.compress(b"name\n" * 100) + stream_of.flush()
    small.put(small.table("alerts"), packed, 100)
    small.finish()
    with pytest.raises(Conflict, match="not as it was written"):
        verify(small.objects, quiet)
