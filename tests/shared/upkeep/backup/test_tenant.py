"""One organization, exported and imported beside its original."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from sqlalchemy import text

from shared.access.organizations import Organization, lifecycle
from shared.foundation.core.errors import Conflict
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import open_objects
from shared.intake.ingest import stream
from shared.upkeep.backup import in_postgres, manifest
from shared.upkeep.backup.create import create
from shared.upkeep.backup.listing import backups_in, verify
from shared.upkeep.backup.moving import import_organization
from shared.upkeep.backup.settle import REASON
from shared.upkeep.purge.service import purge
from tests.support.assignment_desk import ROOT, Desk, model_call, of
from tests.support.runtime import Org, make_org
from tests.support.s3 import s3_server
from tests.support.tenants import EVENTS, SESSIONS, fill, footprint


def quiet(_progress: str) -> None:
    """Nobody reads the progress of a test."""


def organization(runtime: Runtime, org: Org) -> Organization:
    with runtime.postgres.transaction() as session:
        return lifecycle.require(session, org.slug)


def contents(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.suffix == ".zst":
            yield zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
        elif path.is_file():
            yield path.read_bytes()


@pytest.fixture
def filled(runtime: Runtime, org: Org) -> Org:
    fill(runtime, org)
    return org


@pytest.fixture
def exported(runtime: Runtime, filled: Org, tmp_path: Path) -> Path:
    other = make_org(runtime)
    fill(runtime, other)
    place = tmp_path / "export"
    create(runtime, open_objects(str(place)), quiet, organization(runtime, filled))
    whole = b"".join(contents(place))
    assert filled.id.encode() in whole
    assert other.id.encode() not in whole
    assert other.slug.encode() not in whole
    return place


def test_an_export_is_as_it_was_written(exported: Path, filled: Org) -> None:
    found = verify(open_objects(str(exported)), quiet)
    assert found.organization is not None
    assert found.organization.id == filled.id
    rows = {f"{table.store}.{table.name}": table.rows for table in found.tables}
    assert rows["clickhouse.events"] == EVENTS
    assert rows["clickhouse.evaluations"] == SESSIONS
    assert rows["redis.batches"] == 2
    assert rows["redis.dead_letters"] == rows["postgres.users"] == 1
    assert "postgres.sign_in_sessions" not in rows


def test_an_organization_is_imported_under_another_slug(
    runtime: Runtime, exported: Path, filled: Org
) -> None:
    before = footprint(runtime, filled)
    with pytest.raises(Conflict, match="is taken"):
        import_organization(runtime, open_objects(str(exported)), quiet)
    slug = f"{filled.slug}-copy"
    made = import_organization(runtime, open_objects(str(exported)), quiet, slug)
    copy = Org(made.new_id, slug)
    after = footprint(runtime, copy)

    assert footprint(runtime, filled) == before
    # The flush of receipts is Redis's, and the import is in the log of the copy.
    for name in ("receipt_flushes", "audit_log"):
        before.postgres.pop(name)
        after.postgres.pop(name)
    assert {name: len(rows) for name, rows in after.postgres.items()} == {
        name: len(rows) for name, rows in before.postgres.items()
    }
    counts = {name: count for name, (count, _) in before.clickhouse.items()}
    assert {name: count for name, (count, _) in after.clickhouse.items()} == counts
    assert after.dead_letters == before.dead_letters == 1
    assert after.is_active
    entries = list(stream.waiting_entries(runtime.redis, copy.id))
    assert [entry.org_slug for entry in entries] == [slug] * 2
    assert filled.id not in str(after)


def test_an_export_goes_into_a_bucket_and_back(
    runtime: Runtime, filled: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        place = open_objects(f"s3://{server.new_bucket()}/exports/one")
        create(runtime, place, quiet, organization(runtime, filled))
        verify(place, quiet)
        with pytest.raises(Conflict, match="is not empty"):
            create(runtime, place, quiet, organization(runtime, filled))
        [listed] = backups_in(open_objects(place.url.rpartition("/")[0]))
        assert (listed["place"], listed["status"]) == (place.url, "complete")
        slug = f"{filled.slug}-copy"
        made = import_organization(runtime, place, quiet, slug)
    after = footprint(runtime, Org(made.new_id, slug))
    assert after.clickhouse["events"][0] == EVENTS


def test_ids_change_together(runtime: Runtime, exported: Path, filled: Org) -> None:
    slug = f"{filled.slug}-copy"
    made = import_organization(runtime, open_objects(str(exported)), quiet, slug)
    of_incidents = text("SELECT id, origin->>'id' FROM incidents WHERE org_id = :org")
    of_alerts = text("SELECT id FROM alerts WHERE org_id = :org")
    with runtime.postgres.transaction() as session:
        old, new = (
            {str(one): str(named) for one, named in session.execute(of_incidents, {"org": org})}
            for org in (filled.uuid, made.new_id)
        )
        alerts = {str(one) for one in session.scalars(of_alerts, {"org": made.new_id})}
    assert len(new) == len(old) > 0
    named = {origin for origin in new.values() if origin != "None"}
    assert not ({*new} | named) & {*old, *old.values()}
    assert named
    assert named <= alerts


def test_keys_work_in_one_place_and_nothing_is_sent_again(
    runtime: Runtime, exported: Path, filled: Org
) -> None:
    made = import_organization(runtime, open_objects(str(exported)), quiet, f"{filled.slug}-copy")
    with runtime.postgres.transaction() as session:

        def column(statement: str, org: object) -> list[object]:
            return list(session.scalars(text(statement), {"org": org}))

        keys = "SELECT key_hash FROM api_keys WHERE org_id = :org"
        live = f"{keys} AND revoked_at IS NULL"
        assert len(column(live, filled.uuid)) == 1
        assert len(column(keys, made.new_id)) == 1
        assert column(live, made.new_id) == []
        assert column(keys, made.new_id) != column(keys, filled.uuid)
        [original] = column(keys, filled.uuid)
        mails = "SELECT DISTINCT last_error FROM mails WHERE org_id = :org AND status = 'failed'"
        assert column(mails, made.new_id) == [REASON]
        assert (
            column("SELECT 1 FROM mails WHERE org_id = :org AND status = 'queued'", made.new_id)
            == []
        )
        people = "SELECT user_id FROM memberships WHERE org_id = :org"
        assert column(people, made.new_id) == column(people, filled.uuid)
    assert bytes(original).hex().encode() not in b"".join(contents(exported))  # type: ignore[call-overload]


def test_imported_memberships_wait_for_the_person(
    runtime: Runtime, exported: Path, filled: Org
) -> None:
    made = import_organization(runtime, open_objects(str(exported)), quiet, f"{filled.slug}-copy")
    pending = text("SELECT is_pending FROM memberships WHERE org_id = :org")
    with runtime.postgres.transaction() as session:
        assert list(session.scalars(pending, {"org": filled.uuid})) == [False]
        assert list(session.scalars(pending, {"org": made.new_id})) == [True]


def test_an_interrupted_import_is_run_again(runtime: Runtime, exported: Path, filled: Org) -> None:
    slug = f"{filled.slug}-copy"

    def killed(progress: str) -> None:
        if progress.startswith("Redis: dead_letters"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_organization(runtime, open_objects(str(exported)), killed, slug)
    with runtime.postgres.transaction() as session:
        slugs = set(session.scalars(text("SELECT slug FROM organizations")))
    assert slug not in slugs
    made = import_organization(runtime, open_objects(str(exported)), quiet, slug)
    after = footprint(runtime, Org(made.new_id, slug))
    assert after.clickhouse["events"][0] == EVENTS
    assert len(list(stream.waiting_entries(runtime.redis, str(made.new_id)))) == 2
    assert after.dead_letters == 1


def test_an_organization_comes_back_after_its_purge(
    runtime: Runtime, exported: Path, filled: Org
) -> None:
    with runtime.postgres.transaction() as session:
        lifecycle.delete(session, filled.slug)
    purge(runtime, filled.slug, confirmed=filled.slug, tell=quiet)
    made = import_organization(runtime, open_objects(str(exported)), quiet)
    assert made.new_slug == filled.slug
    assert str(made.new_id) != filled.id
    after = footprint(runtime, Org(made.new_id, filled.slug))
    assert after.clickhouse["events"][0] == EVENTS
    assert len(after.postgres["memberships"]) == 1


def test_another_schema_is_refused(runtime: Runtime, exported: Path, filled: Org) -> None:
    objects = open_objects(str(exported))
    found = manifest.read(objects)
    found.postgres_revision, found.release = "0001", "0.0.1"
    manifest.write(objects, found)
    with pytest.raises(Conflict, match=r"release 0\.0\.1 with the schemas PostgreSQL 0001,"):
        import_organization(runtime, objects, quiet, f"{filled.slug}-copy")


@pytest.mark.parametrize("what", ["manifest", "part", "missing"])
def test_a_changed_export_is_recognised(exported: Path, what: str) -> None:
    path = exported / "manifest.json"
    if what != "manifest":
        path = next((exported / "clickhouse" / "events").glob("*.zst"))
    if what == "missing":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        at = content.index(b'"rows": ') + 8 if what == "manifest" else len(content) // 2
        content[at] ^= 1
        path.write_bytes(content)
    with pytest.raises(Conflict, match=r"not as it was written|is missing"):
        verify(open_objects(str(exported)), quiet)


def test_records_that_are_no_events_yet_become_events_of_the_copy(
    runtime: Runtime, org: Org, tmp_path: Path
) -> None:
    desk = Desk(runtime, org)
    desk.send(of(model_call(2, ROOT.span_id)))
    desk.assign()
    desk.send(of(ROOT))
    place = open_objects(str(tmp_path / "export"))
    made = create(runtime, place, quiet, organization(runtime, org))
    rows = {table.name: table.rows for table in made.of("redis")}
    assert (rows["waiting_records"], rows["records"]) == (1, 1)

    slug = f"{org.slug}-copy"
    copy = Desk(runtime, Org(import_organization(runtime, place, quiet, slug).new_id, slug))
    for one in (desk, copy):
        one.assign()
        one.store()
    # The ids are those of the organization that made the events.
    stored = [[(*event[:4], event[5]) for event in one.events()] for one in (desk, copy)]
    assert len(stored[0]) == 4
    assert stored[0] == stored[1]


def test_the_manifest_names_every_column_with_a_secret(postgres_runtime: Runtime) -> None:
    named = re.compile("secret|hash|token|password|credential")
    with postgres_runtime.postgres.engine.connect() as connection:
        suspicious = {
            f"{table.name}.{column.name}"
            for table in in_postgres.tables(connection)
            for column in table.columns
            if named.search(column.name)
        }
    harmless = {
        # Leases, numbers of tokens of language models, and the hash of what was deleted.
        name
        for name in suspicious
        if name.endswith(("lease_token", "_tokens", ".tokens"))
    } | {
        "notifications.secret_setting_key",
        "deletions.value_hash",
        "deleted_sessions.session_hash",
    }
    assert suspicious - harmless <= {one.column for one in in_postgres.SECRETS}
