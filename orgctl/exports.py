"""`service-orgctl exports`: the files of scheduled exports."""

from datetime import UTC, datetime

import click

from orgctl.context import Row, connected, print_rows
from orgctl.options import json_option, limit_option
from shared.access.organizations import lifecycle
from shared.foundation.core.clock import format_optional_ts, format_ts
from shared.foundation.queue.jobs import WRITE_EXPORTS
from shared.reading.exports.schedules import service
from shared.reading.exports.schedules.models import ExportFile

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])
_since = click.option(
    "--since", required=True, type=_MOMENT, help="A day, or a moment such as 2026-11-01T13:00:00Z."
)


@click.group()
def exports() -> None:
    """List the files of scheduled exports, begin them earlier, or write them again.

    An organization switches its schedule on with the setting exports.schedule. EXPORT_TARGET names
    the folder or bucket of the files.
    """


@exports.command("list")
@click.argument("slug")
@limit_option
@json_option
def list_files(slug: str, limit: int, *, as_json: bool) -> None:
    """List the files of the organization SLUG, those of the newest periods first."""
    with connected() as runtime, runtime.postgres.transaction() as session:
        org_id = lifecycle.require(session, slug).id
        rows = [_row(file) for file in service.files_of(session, org_id, limit=limit, offset=0)]
    print_rows(rows, as_json=as_json)


@exports.command()
@click.argument("slug")
@_since
def backfill(slug: str, since: datetime) -> None:
    """Write files for the time from --since on, too."""
    with connected() as runtime:
        with runtime.postgres.transaction() as session:
            org_id = lifecycle.require(session, slug).id
            begins_at = service.begin_at(session, org_id, since.replace(tzinfo=UTC)).since
        runtime.queue.nudge_soon(WRITE_EXPORTS)
    click.echo(f"the files of {slug} begin at {format_ts(begins_at)}")


@exports.command()
@click.argument("slug")
@_since
@click.option("--until", type=_MOMENT, help="The end of the time.  [default: now]")
def rewrite(slug: str, since: datetime, until: datetime | None) -> None:
    """Write the files of a time again, for example after files were lost."""
    end = (until or datetime.now(UTC)).replace(tzinfo=UTC)
    with connected() as runtime:
        with runtime.postgres.transaction() as session:
            org_id = lifecycle.require(session, slug).id
            marked = service.write_again(session, org_id, since.replace(tzinfo=UTC), end)
        runtime.queue.nudge_soon(WRITE_EXPORTS)
    click.echo(f"{marked} files will be written again")


def _row(file: ExportFile) -> Row:
    return {
        "name": file.name,
        "rows": file.row_count,
        "bytes": file.bytes,
        "writes": file.writes,
        "written_at": format_optional_ts(file.written_at),
        "state": "current" if file.fingerprint else "to be written again",
    }
