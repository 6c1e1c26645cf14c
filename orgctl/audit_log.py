"""`service-orgctl audit-log`: who changed what, from where."""

import click

from orgctl.context import Row, connected, print_json, print_rows
from orgctl.options import json_option, limit_option
from shared.access.audit_log.listing import LineFilters, list_
from shared.access.audit_log.models import AuditLine
from shared.access.organizations import lifecycle
from shared.foundation.core.clock import format_ts


@click.group("audit-log")
def audit_log() -> None:
    """List the operator's own log, or that of an organization.

    The operator's log has a line for each command that changed something, and for keys that
    ADMIN_KEY and AGENT_API_KEY changed. No organization sees it.
    """


@audit_log.command("list")
@click.option("--org", metavar="SLUG", help="The log of this organization instead.")
@click.option("--action", "actions", multiple=True, help="Show only this action.")
@limit_option
@json_option
def list_lines(org: str | None, actions: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    """List lines, newest first. With --json, each has its values before and after."""
    with connected() as runtime, runtime.postgres.transaction() as session:
        org_id = None if org is None else lifecycle.require(session, org).id
        page = list_(session, org_id, LineFilters(action=actions), cursor=None, limit=limit)
    if as_json:
        print_json([_details(line) for line in page.rows])
    else:
        print_rows([_row(line) for line in page.rows], as_json=False)


def _row(line: AuditLine) -> Row:
    return {
        "at": format_ts(line.at),
        "actor": line.actor or line.actor_kind,
        "action": line.action,
        "target": line.target or line.target_id or _values(line),
        "way": line.way,
        "address": line.address,
    }


def _values(line: AuditLine) -> str:
    """Returns the arguments of a command."""
    return " ".join(f"{name}={value}" for name, value in (line.after or {}).items())


def _details(line: AuditLine) -> dict[str, object]:
    names = ("actor_kind", "actor", "key_name", "way", "address", "request_id", "action")
    values = ("target_id", "target", "before", "after")
    found: dict[str, object] = {"id": str(line.id), "at": format_ts(line.at)}
    return found | {name: getattr(line, name) for name in (*names, *values)}
