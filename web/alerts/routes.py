"""Alert rules: list, create, replace, delete and test them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from shared.access import audit_log, users
from shared.foundation.postgres import after_commit
from shared.foundation.queue import jobs
from shared.watch.alerts import service as alerts
from shared.watch.alerts.evaluation.preview import RuleDraft, preview
from shared.watch.alerts.evaluation.triggers.interface import RuleContext
from shared.watch.alerts.models import Alert, AlertState
from shared.watch.alerts.rules import DEFAULT_INTERVAL_SECS, AlertContent
from shared.watch.alerts.testing import TestResult, send_test
from shared.watch.incidents import listing as incidents
from shared.watch.incidents.channels import check_channels
from web.alerts.rows import preview_row
from web.alerts.schemas import (
    AlertBody,
    AlertPreview,
    AlertRow,
    DeliveryTest,
    DeliveryTestBody,
    PreviewBody,
    Recipient,
)
from web.auth import current_identity, current_org_id, requires, requires_any
from web.blueprint import Blueprint
from web.responses import row_of
from web.state import published_schema, runtime, state
from web.transaction import Tx, in_transaction

blueprint = Blueprint("alerts", "Rules that watch agents and open incidents")


@blueprint.route("/alerts")
@requires("alerts:read")
@blueprint.response(200, AlertRow(many=True))
@in_transaction
def list_alerts(tx: Tx) -> list[dict[str, Any]]:
    """List the organization's alert rules, newest first."""
    found = alerts.list_(*tx)
    open_counts = incidents.open_counts(*tx)
    return [_row(alert, progress, open_counts) for alert, progress in found]


@blueprint.route("/alerts", methods=["POST"])
@requires("alerts:write")
@blueprint.arguments(AlertBody)
@blueprint.response(201, AlertRow, errors=(409,))
@in_transaction
def create_alert(tx: Tx, body: dict[str, Any]) -> dict[str, Any]:
    """Create an alert rule. It is evaluated at once unless it is disabled.

    A statement must pass the guard of `/queries/run`, and needs `queries:run` too. Its result is
    judged at the first evaluation. An organization has at most 2000 alerts with at most 16 MiB in
    total.
    """
    _require_sql(body)
    author = current_identity().name
    alert, progress = alerts.create(
        *tx, _content(body), schema=published_schema(), created_by=author
    )
    _evaluate_soon(tx.session, progress)
    return _row(alert, progress, {})


@blueprint.route("/alerts/recipients")
@requires_any("alerts:read", "alerts:write")
@blueprint.response(200, Recipient(many=True))
@in_transaction
def list_recipients(tx: Tx) -> list[dict[str, str]]:
    """List the addresses of active members, sorted, for choosing recipients."""
    return [{"email": one.email} for one in users.members_of(*tx)]


@blueprint.route("/alerts/preview", methods=["POST"])
@requires("alerts:write")
@blueprint.arguments(PreviewBody)
@blueprint.response(200, AlertPreview, errors=(429, 504))
def preview_alert(body: dict[str, Any]) -> dict[str, Any]:
    """Show what a rule would have done in the past. Nothing is stored and nobody is notified.

    The rule is evaluated by the same code, as if it had been there before. A statement of
    `custom_sql` names its own window and is only evaluated for now; it needs `queries:run` too. An
    organization can run two previews at once, for 10 seconds each.
    """
    _require_sql(body)
    context = RuleContext(runtime(), state().queries, current_identity().org_id)
    return preview_row(preview(context, _draft(body), schema=published_schema()))


@blueprint.route("/alerts/<alert_id>")
@requires("alerts:read")
@blueprint.response(200, AlertRow)
@in_transaction
def get_alert(tx: Tx, alert_id: str) -> dict[str, Any]:
    """Read one alert rule."""
    alert, progress = alerts.get(*tx, alert_id)
    return _row(alert, progress, incidents.open_counts(*tx))


@blueprint.route("/alerts/<alert_id>", methods=["PUT"])
@requires("alerts:write")
@blueprint.arguments(AlertBody)
@blueprint.response(200, AlertRow, errors=(409,))
@in_transaction
def replace_alert(tx: Tx, body: dict[str, Any], alert_id: str) -> dict[str, Any]:
    """Replace an alert rule as a whole. Absent fields get their defaults.

    When the trigger, the window or the interval changes, earlier evaluations no longer count and
    the rule is evaluated at once. Its open incident stays open. A new statement needs
    `queries:run` too.
    """
    before, _progress = alerts.get(*tx, alert_id)
    _require_sql(body, before)
    alert, progress = alerts.replace(*tx, alert_id, _content(body), schema=published_schema())
    _evaluate_soon(tx.session, progress)
    return _row(alert, progress, incidents.open_counts(*tx))


@blueprint.route("/alerts/<alert_id>", methods=["DELETE"])
@requires("alerts:write")
@blueprint.response(204)
@in_transaction
def delete_alert(tx: Tx, alert_id: str) -> None:
    """Delete an alert rule with its incidents for good."""
    alerts.delete(*tx, alert_id)


@blueprint.route("/alerts/<alert_id>/test", methods=["POST"])
@requires("alerts:write")
@blueprint.arguments(DeliveryTestBody)
@blueprint.response(200, DeliveryTest, errors=(429,))
def test_alert(body: dict[str, Any], alert_id: str) -> TestResult:
    """Send a test over the rule's channels, or those of the body, and wait for the result.

    A delivery that has neither arrived nor failed after 12 seconds is reported as `queued`. An
    organization can run four tests at once; a fifth is refused with 429.
    """
    with runtime().postgres.transaction() as session:
        alert, _progress = alerts.get(session, current_org_id(), alert_id)
        session.expunge(alert)
        audit_log.record(session, current_org_id(), "alert.test", of=alert)
    channels = alert.channels if body["channels"] is None else check_channels(body["channels"])
    return send_test(runtime(), current_org_id(), alert, channels)


def _require_sql(body: dict[str, Any], before: Alert | None = None) -> None:
    """Raises `Forbidden` for a statement that is not the saved one unless the caller may run SQL.

    A rule shows values of its statement and mails rows to any address.
    """
    statement = body["trigger_spec"].get("sql")
    is_saved = before is not None and before.trigger_spec.get("sql") == statement
    if body["trigger_kind"] == "custom_sql" and not is_saved:
        current_identity().require_any(("queries:run",))


def _evaluate_soon(session: Session, progress: AlertState) -> None:
    task = jobs.EVALUATE_SQL_ALERTS if progress.is_sql else jobs.EVALUATE_ALERTS
    queue = runtime().queue
    after_commit(session, lambda: queue.nudge_soon(task))


def _row(alert: Alert, progress: AlertState, open_counts: Mapping[UUID, int]) -> dict[str, Any]:
    return row_of(AlertRow, alert, progress, open_incidents=open_counts.get(alert.id, 0))


def _draft(body: dict[str, Any]) -> RuleDraft:
    return RuleDraft(
        trigger_kind=body["trigger_kind"],
        trigger_spec=body["trigger_spec"],
        min_breaches=_or(body["min_breaches"], 1),
        eval_window=_or(body["eval_window"], 1),
        eval_interval_secs=_or(body["eval_interval_secs"], DEFAULT_INTERVAL_SECS),
        ts_from=body["ts_from"],
        ts_to=body["ts_to"],
    )


def _content(body: dict[str, Any]) -> AlertContent:
    return AlertContent(
        name=body["name"],
        description=body["description"],
        enabled=_or(body["enabled"], True),
        trigger_kind=body["trigger_kind"],
        trigger_spec=body["trigger_spec"],
        severity=_or(body["severity"], "warning"),
        min_breaches=_or(body["min_breaches"], 1),
        eval_window=_or(body["eval_window"], 1),
        eval_interval_secs=_or(body["eval_interval_secs"], DEFAULT_INTERVAL_SECS),
        channels=_or(body["channels"], []),
    )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
