"""More than 300 generated requests: a clear answer to each, and good records beside bad ones kept.

`tests/support/otlp_hostile.py` makes them; the seed of a family never changes.
"""

import random
import tracemalloc
from collections.abc import Callable
from itertools import islice

import pytest
from flask.testing import FlaskClient
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from werkzeug.test import TestResponse

from shared.foundation.deployment.runtime import Runtime
from shared.intake.otlp import stream
from shared.intake.otlp.wire.answers import code_of
from shared.intake.otlp.wire.reading import JSON, PROTOBUF
from tests.support.app import Headers
from tests.support.otlp_hostile import EACH, FAMILIES, Case, Family, bombs
from tests.support.runtime import Org
from tests.support.streams import waiting_records

# The limit of a request, once as it was unpacked and once in one piece, and a window of zstd.
MOST_BYTES = 64 * 1024 * 1024


def send(client: FlaskClient, headers: Headers, case: Case) -> TestResponse:
    sent = {**headers, "Content-Encoding": case.encoding}
    return client.post("/v1/traces", data=case.body, headers=sent, content_type=case.form)


def require_clear(case: Case, answer: TestResponse) -> None:
    """Checks that the answer is one of those of OTLP, in the form of the request."""
    assert answer.status_code in case.statuses, answer.data
    assert answer.mimetype == case.form
    if answer.status_code == 200:
        if case.form == PROTOBUF:
            partial = ExportTraceServiceResponse.FromString(answer.data).partial_success
            rejected, message = partial.rejected_spans, partial.error_message
        else:
            body = answer.get_json().get("partialSuccess", {})
            rejected, message = int(body.get("rejectedSpans", 0)), body.get("errorMessage", "")
        assert (rejected > 0) is bool(message)
        assert rejected >= len(case.dropped)
    elif case.form == JSON:
        assert answer.get_json()["code"] == code_of(answer.status_code)
        assert answer.get_json()["message"]
    else:
        status = Status.FromString(answer.data)
        assert status.code == code_of(answer.status_code)
        assert status.message


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_clear_answer_and_good_records_kept(
    client: FlaskClient,
    key: Callable[..., Headers],
    runtime: Runtime,
    org: Org,
    family: Family,
) -> None:
    headers = key("events:add")
    for number, case in enumerate(islice(family(random.Random(family.__name__)), EACH)):
        answer = send(client, headers, case)
        require_clear(case, answer)
        kept = {span.name for records in waiting_records(runtime, org) for span in records.spans}
        assert case.kept <= kept, f"request {number}"
        assert not case.dropped & kept, f"request {number}"
        stream.remove_all(runtime.redis, org.id)


def test_bombs_take_no_more_memory_than_a_request_may(
    client: FlaskClient, key: Callable[..., Headers]
) -> None:
    headers = key("events:add")
    for case in islice(bombs(random.Random(1)), 4):
        tracemalloc.start()
        try:
            send(client, headers, case)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < MOST_BYTES
