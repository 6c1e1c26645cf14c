"""Reads the evaluator's optional /config."""

from shared.evaluation.evaluation_jobs import evaluator_config
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import current_request_id, get_logger
from shared.foundation.deployment.runtime import Runtime
from workers.evaluation_jobs.client import EvaluatorClient

log = get_logger(__name__)


def refresh_if_due(runtime: Runtime, client: EvaluatorClient, *, force: bool) -> None:
    """Reads /config if it is due, or because of `force`; a failed read keeps the last values."""
    settings = runtime.settings
    with runtime.postgres.transaction() as session:
        if not evaluator_config.take_refresh(session, settings, force=force):
            return
    answer = client.config(request_id=current_request_id() or new_request_id())
    config = evaluator_config.read_config(answer)
    if config is None:
        log.warning("evaluator_config_unreadable", answer=str(getattr(answer, "status", answer)))
    with runtime.postgres.transaction() as session:
        evaluator_config.remember(session, settings, config)
