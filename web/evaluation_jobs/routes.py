"""Evaluation jobs: list those without a result, and start one."""

from flask import Response

from shared.evaluation.evaluation_jobs import breaker
from shared.evaluation.evaluation_jobs.bulk import re_evaluate_all
from shared.evaluation.evaluation_jobs.listing import live_jobs
from shared.evaluation.evaluation_jobs.requests import re_evaluate
from shared.evaluation.evaluation_jobs.scope import breaker_key
from shared.reading.evaluations.filters import EvaluationFilters
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.evaluation_jobs.rows import health_row, job_row
from web.evaluation_jobs.schemas import (
    STATUSES,
    AgainBody,
    JobList,
    JobQuery,
    Queued,
    Requested,
)
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("evaluation_jobs", "Evaluations that are queued or in flight")


@blueprint.route("/evaluation-jobs")
@requires("evaluations:read")
@blueprint.arguments(JobQuery, location="query", as_kwargs=True)
@blueprint.response(200, JobList)
def list_evaluation_jobs(
    status: list[str], session_id: list[str], health: bool, limit: int
) -> Response:
    """List evaluations that have no result yet, newest first."""
    with runtime().postgres.transaction() as session:
        jobs = live_jobs(
            session,
            current_org_id(),
            statuses=status or STATUSES,
            session_ids=session_id,
            limit=limit,
        )
        found = breaker.current(session, breaker_key(runtime().settings)) if health else None
    answer = {} if found is None else {"health": health_row(found)}
    return json_response({"jobs": [job_row(job) for job in jobs], **answer})


@blueprint.route("/evaluations/re-evaluate", methods=["POST"])
@requires("evaluations:trigger")
@blueprint.arguments(AgainBody, as_kwargs=True)
@blueprint.response(202, Requested, errors=(409, 504))
def re_evaluate_many(filters: EvaluationFilters, dry_run: bool | None) -> Response:
    """Enqueue an evaluation of each session whose newest result matches the filters.

    The body takes the filters of `GET /evaluations`. At most 20,000 sessions may match. A session
    with an evaluation that is queued or in flight gets no other one. The answer is 409 with the
    code `evaluator_disabled` without an evaluator.
    """
    found = re_evaluate_all(
        runtime(), current_org_id(), current_identity().org_slug, filters, dry_run=bool(dry_run)
    )
    return json_response({**found._asdict(), "dry_run": bool(dry_run)}, status=202)


@blueprint.route("/sessions/<any_id:session_id>/re-evaluate", methods=["POST"])
@requires("evaluations:trigger")
@blueprint.response(202, Queued, errors=(409, 504))
def re_evaluate_session(session_id: str) -> Response:
    """Enqueue an evaluation of a session that ended, went quiet or was evaluated before.

    A session is quiet when nothing has arrived for 60 s, or for the evaluator's timeout if that is
    shorter. The answer is 409 with the code `evaluation_live` while an evaluation is queued or in
    flight, `session_open` while the session goes on, and `evaluator_disabled` without an evaluator.
    """
    org_slug = current_identity().org_slug
    job_id = re_evaluate(runtime(), current_org_id(), org_slug, session_id)
    return json_response(
        {"session_id": session_id, "status": "queued", "job_id": str(job_id)}, status=202
    )
