"""Twenty questions about the recording, answered through the tools and compared with SQL."""

import json
from datetime import datetime

from bench.assistant.questions import QUESTIONS
from bench.assistant.scripted import scripted_model
from shared.assistant.evidence import UNVERIFIED
from shared.foundation.core.clock import to_us
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import store
from shared.intake.ingest.batch import Batch
from shared.intake.ingest.rows import columns_of
from shared.intake.ingest.rules import IngestRules
from shared.reading.queries.run import QueryOwner, QueryRunner
from tests.support.airline import Airline
from tests.support.people import new_member
from tests.support.runtime import Org
from tests.workers.assistant.conftest import Sites, text_of


def store_recording(runtime: Runtime, org: Org, airline: Airline) -> None:
    """Stores the recording past the ingest path, with all of its columns."""
    events = [json.loads(line) for line in airline.lines]
    batch = Batch(
        ids=list(range(1, len(events) + 1)),
        ts=[to_us(datetime.fromisoformat(one["timestamp"])) for one in events],
        arrivals=list(range(1, len(events) + 1)),
        session_ids=[one["session_id"] for one in events],
        agent_ids=[one["agent_id"] for one in events],
        event_types=[one["type"] for one in events],
        environments=[one["environment"] for one in events],
        payloads=list(airline.lines),
    )
    store.insert(runtime.clickhouse, columns_of(org.id, batch, IngestRules(lambda _model: None)))


def test_the_answers_of_a_model_that_asks_the_right_tools_are_true(
    sites: Sites, runtime: Runtime, org: Org, airline: Airline
) -> None:
    store_recording(runtime, org, airline)
    me = new_member(runtime, org)
    queries = QueryRunner(runtime, pool_size=1)
    wrong = {}
    with scripted_model() as url, sites(url) as site:
        for question in QUESTIONS:
            run = queries.run(QueryOwner(org.id, "tests"), question.sql, [])
            truth = run.result.rows[0][0]
            answer = text_of(site.ask(me, question.text))
            if UNVERIFIED in answer or not question.is_answered_by(answer, truth):
                wrong[question.text] = (truth, answer)
    queries.close()
    assert not wrong
