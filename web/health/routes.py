"""Liveness of the process, and readiness of the deployment."""

from flask import Response
from marshmallow import Schema

from web import fields
from web.auth import public
from web.blueprint import Blueprint
from web.responses import json_response
from web.state import state

blueprint = Blueprint("health", "Monitoring of the deployment")

_RETRY_AFTER_SECS = "5"


class Health(Schema):
    """A live process."""

    status = fields.text(enum=["ok"])


def _state(what: str = "") -> fields.Field:
    return fields.text(what, enum=["ok", "down"])


def _age(what: str) -> fields.Field:
    return fields.number(f"age of {what}; null when its store is down", null=True)


class Checks(Schema):
    """The results of the checks."""

    postgres = _state()
    clickhouse = _state()
    redis = _state()
    ingest = _state("ok while a worker runs that stores events")
    evaluator = fields.text(
        "its GET /health, asked at most every 30 s. Never a reason for 503."
        " unknown: not answered yet; disabled: EVALUATOR_ENDPOINT is unset",
        enum=["ok", "down", "unknown", "disabled"],
    )
    ingest_lag_secs = _age("the oldest batch that is not stored yet")
    oldest_job_secs = _age("the evaluation that has been due the longest")
    canary = fields.text(
        "ok while events of the service's own come through web, Redis, ingest and ClickHouse in"
        " time. unknown: no worker has sent one, or Redis is down; disabled: CANARY_INTERVAL_SECS"
        " is 0",
        enum=["ok", "down", "unknown", "disabled"],
    )
    canary_age_secs = fields.number(
        "time since one came through; null while it is unknown or disabled", null=True
    )
    canary_begins = fields.text(
        "where they begin: `redis` if no address of web is known; null as above",
        enum=["web", "redis"],
        null=True,
    )
    canary_groups_late = fields.integer(
        "groups of ingest processes that report and bring none through; null as above", null=True
    )
    broken = fields.text(
        "the first part of that way that does not work; null if none is known",
        enum=["web", "redis", "ingest", "postgres", "clickhouse"],
        null=True,
    )


class Ready(Schema):
    """The readiness of the deployment."""

    status = fields.text(enum=["ok", "unavailable"])
    checks = fields.nested(Checks)


@blueprint.route("/health")
@public
@blueprint.response(200, Health)
def health() -> dict[str, str]:
    """Report that the process is alive, without a request to any store."""
    return {"status": "ok"}


@blueprint.route("/ready")
@public
@blueprint.response(200, Ready)
@blueprint.alt_response(
    503,
    schema=Ready,
    description="a store is down, no worker stores events, or work waits too long",
)
def ready() -> Response:
    """Report whether the deployment can do its work.

    The answer is 503 while a store does not answer within 2 s, while no worker runs that stores
    events, while the oldest batch of events that is not stored yet is older than
    READY_MAX_INGEST_LAG_SECS, while a group brings no canary through in time, or while an
    evaluation has been due for longer than READY_MAX_JOB_AGE_SECS. An evaluator that is down shows
    here and changes nothing else.
    """
    report = state().readiness.report()
    checks: dict[str, object] = {
        name: "ok" if answers else "down" for name, answers in report.stores.items()
    }
    checks["ingest"] = "ok" if report.ingest else "down"
    checks["evaluator"] = report.evaluator
    checks["ingest_lag_secs"] = report.ingest_lag_secs
    checks["oldest_job_secs"] = report.oldest_job_secs
    checks["canary"] = report.canary.state
    checks["canary_age_secs"] = report.canary.age_secs
    checks["canary_begins"] = report.canary.begins
    checks["canary_groups_late"] = report.canary.late
    checks["broken"] = report.broken
    if report.ready:
        return json_response({"status": "ok", "checks": checks})
    response = json_response({"status": "unavailable", "checks": checks}, 503)
    response.headers["Retry-After"] = _RETRY_AFTER_SECS
    return response
