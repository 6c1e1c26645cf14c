"""Evaluation jobs: list those without a result, and start one."""

from flask import Response

from shared.evaluation_jobs.listing import live_jobs
from shared.evaluation_jobs.requests import re_evaluate
from web.auth import current_identity, current_org_id, requires
from web.blueprint import Blueprint
from web.evaluation_jobs.rows import job_row
from web.evaluation_jobs.schemas import STATUSES, JobList, JobQuery, Queued
from web.responses import json_response
from web.state import runtime

blueprint = Blueprint("evaluation_jobs", "Evaluations that are queued or in flight")


@blueprint.route("/evaluation-jobs")
@requires("evaluations:read")
@blueprint.arguments(JobQuery, location="query", as_kwargs=True)
@blueprint.response(200, JobList)
def list_evaluation_jobs(status: list[str], limit: int) -> Response:
    """List evaluations that have no result yet, newest first."""
    with runtime().postgres.transaction() as session:
        jobs = live_jobs(session, current_org_id(), statuses=status or STATUSES, limit=limit)
    return json_response({"jobs": [job_row(job) for job in jobs]})


@blueprint.route("/sessions/<any_id:session_id>/re-evaluate", methods=["POST"])
@requires("evaluations:trigger")
@blueprint.response(202, Queued, errors=(409, 504))
def re_evaluate_session(session_id: str) -> Response:
    """Enqueue an evaluation of a session that ended, went quiet or was evaluated before.

    The answer is 409 with the code `evaluation_live` while an evaluation is queued or in flight,
    `session_open` while the session goes on, and `evaluator_disabled` without an evaluator.
    """
    org_slug = current_identity().org_slug
    job_id = re_evaluate(runtime(), current_org_id(), org_slug, session_id)
    return json_response(
        {"session_id": session_id, "status": "queued", "job_id": str(job_id)}, status=202
    )
