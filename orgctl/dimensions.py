"""`service-orgctl dimensions`: the dimensions of events that were stored before there were any."""

from datetime import UTC, datetime

import click

from orgctl.context import connected, print_result
from orgctl.options import json_option
from shared.access.organizations import lifecycle
from shared.foundation.core.clock import format_optional_ts, format_ts
from shared.upkeep.dimensions import backfill as backfills

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


@click.group()
def dimensions() -> None:
    """Fill users, versions, tags and attributes of older events."""


@dimensions.command()
@click.argument("slug")
@click.option("--since", type=_MOMENT, help="The first day or moment.  [default: the first event]")
@click.option("--until", type=_MOMENT, help="The end of the time.  [default: now]")
@json_option
def backfill(slug: str, since: datetime | None, until: datetime | None, *, as_json: bool) -> None:
    """Read the dimensions of the events of the organization SLUG from their payloads.

    What an event has already stays. The same command goes on where a killed one was.
    """
    start, end = (one and one.replace(tzinfo=UTC) for one in (since, until))
    with connected() as runtime:
        with runtime.postgres.transaction() as session:
            org_id = lifecycle.require(session, slug).id
        done = backfills.backfill(runtime, org_id, start, end)
    told = {
        "events": done.events,
        "filled": done.filled,
        "since": format_optional_ts(done.since),
        "until": format_ts(done.until),
        "complete_since": format_optional_ts(done.complete_since),
    }
    rest = (
        "all events" if done.complete_since is None else f"those from {told['complete_since']} on"
    )
    sentence = f"{done.filled:,} of {done.events:,} events were filled; filters find {rest}"
    print_result(told, sentence, as_json=as_json)
