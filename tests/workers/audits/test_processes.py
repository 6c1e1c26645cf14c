"""Clock and workers as the Procfile starts them. One is killed while a report is written."""

import json
from contextlib import ExitStack

import msgspec
import pytest

from shared.foundation.deployment.runtime import Runtime
from tests.support import evaluator as behave
from tests.support.audits import AuditBench
from tests.support.evaluator import running_evaluator
from tests.support.processes import running, wait_until
from tests.support.runtime import Org

pytestmark = pytest.mark.flow

SESSIONS = [f"s{number}" for number in range(24)]
DRAFT = {"summary": "", "claims": [{"text": "They refuse.", "session_ids": ["s1", "s99"]}]}


def test_a_new_audit_runs_by_itself_once_though_its_worker_is_killed(
    runtime: Runtime, org: Org
) -> None:
    bench = AuditBench(runtime, org)
    bench.store(*SESSIONS, error="connection refused")
    with running_evaluator() as model, ExitStack() as processes:
        said = {"choices": [{"message": {"content": json.dumps(DRAFT)}}]}
        model.script, model.default = [behave.hang], behave.reply(200, said)
        settings = msgspec.structs.replace(
            runtime.settings, audit_llm_base_url=f"{model.url}/v1", audit_llm_model="small"
        )
        # Remove runs that other tests left waiting: they would reach the model first.
        bench.sql("DELETE FROM audits WHERE org_id <> :org_id")
        bench.make(channels=[{"kind": "dashboard"}])
        processes.enter_context(running("workers.main", "background", settings=settings))
        processes.enter_context(running("workers.clock", settings=settings))
        with running("workers.main", "audits", settings=settings):
            wait_until(lambda: len(model.requests) == 1)
        [filed] = bench.runs()
        bench.end_lease()
        processes.enter_context(running("workers.main", "audits", settings=settings))
        wait_until(lambda: bench.last_run()["status"] == "succeeded")
    [run] = bench.runs()
    assert (filed["status"], run["attempts"], run["trigger_kind"]) == ("running", 2, "scheduled")
    assert run["report"].endswith("- They refuse. (session `s1`)\n")
    assert run["stats"]["failed_signals"] == {}
    assert (run["stats"]["total_sessions"], run["stats"]["events"]) == (24, 24)
    assert run["findings_count"] == len(bench.findings()) >= 1
    assert {finding["occurrences"] for finding in bench.findings()} == {1}
    critical = [one["id"] for one in bench.findings() if one["severity"] == "critical"]
    opened = bench.sql("SELECT source_finding_id FROM incidents WHERE org_id = :org_id")
    assert [one["source_finding_id"] for one in opened] == critical
    assert len(critical) >= 1
