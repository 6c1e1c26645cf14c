"""Limits over HTTP: whole requests are refused, and answers say how much is left.

Buckets fill with time, so a test empties one with a batch that takes hours to pay back.
"""

import gzip
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from shared.access.limits.counting import LimitCounts
from shared.access.limits.service import Limits, OverLimit
from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.otlp import make_span, traces
from tests.support.runtime import Org, make_org
from tests.support.streams import waiting_payloads, waiting_records

Key = Callable[..., Headers]
Configure = Callable[..., None]

# Far more than any limit of these tests lets through in their time.
MANY = 20_000


@pytest.fixture
def limit(runtime: Runtime, org: Org) -> Configure:
    """`limit(org_events_per_day=5)` sets limits of the organization."""

    def configure(**wanted: object) -> None:
        with at_once(runtime.postgres, runtime.redis) as session:
            for name, value in wanted.items():
                key = f"limits.{name}"
                settings.replace(session, runtime.settings, org.uuid, key, value, Editor("t", None))

    return configure


def lines(count: int, mark: str = "e") -> bytes:
    event = {"session_id": "s", "timestamp": "2026-11-01T10:00:00Z", "type": "note"}
    return b"\n".join(json.dumps({**event, mark: n}).encode() for n in range(count))


def send(client: FlaskClient, headers: Headers, count: int, mark: str = "e") -> TestResponse:
    kind = "application/x-ndjson"
    return client.post("/v1/events", data=lines(count, mark), content_type=kind, headers=headers)


def quotas(headers: Any, name: str = "RateLimit") -> dict[str, dict[str, int]]:
    """Returns the parameters of each quota in a header, as a client reads them."""
    found = {}
    for item in headers[name].split(", "):
        quota, *parameters = item.split(";")
        assert re.fullmatch('"[a-z_]+"', quota)
        found[quota.strip('"')] = {one[0]: int(one[2:]) for one in parameters}
    return found


def today(client: FlaskClient, headers: Headers) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/usage", headers=headers).get_json()["limits"]
    return found


def test_without_limits_nothing_is_counted(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitCounts, "take", None)
    answer = send(client, key(), 3)
    assert answer.status_code == 202
    assert "RateLimit" not in answer.headers
    assert list(runtime.redis.scan_iter(match=f"limits:{org.id}*")) == []


def test_a_day_takes_so_many_events_and_no_part_of_a_batch(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, limit: Configure
) -> None:
    limit(org_events_per_day=5)
    headers = key()
    refusal = send(client, headers, 6)
    assert (refusal.status_code, refusal.get_json()["code"]) == (429, "over_limit")
    assert "limits.org_events_per_day" in refusal.get_json()["error"]
    assert waiting_payloads(runtime, org) == []
    answer = send(client, headers, 4)
    assert answer.status_code == 202
    assert quotas(answer.headers, "RateLimit-Policy") == {"org_events": {"q": 5, "w": 86_400}}
    assert quotas(answer.headers)["org_events"]["r"] == 1
    refusal = send(client, headers, 2)
    assert quotas(refusal.headers)["org_events"]["r"] == 1, "what is refused takes nothing"
    wait = int(refusal.headers["Retry-After"])
    assert 0 < wait <= 86_400
    assert quotas(refusal.headers)["org_events"]["t"] == wait
    assert send(client, headers, 1).status_code == 202
    assert len(waiting_payloads(runtime, org)) == 5
    counts = today(client, headers)
    assert (counts["events"], counts["refused_requests"], counts["refused_events"]) == (5, 2, 8)
    assert counts["refused_by"] == {"key_requests": 0, "key_events": 0, "org_events": 2}
    rows = client.get("/v1/receipts", headers=headers).get_json()["receipts"]
    assert sum(row["refused"] for row in rows) == 2


def test_a_large_batch_is_accepted_and_later_ones_of_the_key_wait(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, person: Key, limit: Configure
) -> None:
    limit(key_events_per_sec=1)
    headers = key()
    answer = send(client, headers, MANY)
    assert answer.status_code == 202
    assert quotas(answer.headers)["key_events"]["r"] == 0
    refusal = send(client, headers, 1)
    assert refusal.status_code == 429
    wait = int(refusal.headers["Retry-After"])
    assert MANY / 2 < wait <= MANY
    assert quotas(refusal.headers, "RateLimit-Policy") == {"key_events": {"q": 1, "w": 1}}
    # Reads bring no events. Another key, a person and another organization have their own.
    assert client.get("/v1/events/tool_names", headers=headers).status_code == 200
    assert send(client, key(), 1).status_code == 202
    assert send(client, person(), MANY).status_code == 202
    other = new_key(runtime, make_org(runtime))
    assert [send(client, other, MANY).status_code for _ in range(2)] == [202, 202]


def test_requests_of_a_key(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, person: Key, limit: Configure
) -> None:
    limit(key_requests_per_sec=1)
    headers = key()
    answer = client.get("/v1/auth/introspect", headers=headers)
    assert quotas(answer.headers, "RateLimit-Policy") == {"key_requests": {"q": 1, "w": 1}}
    # Takes hours of requests from the bucket of the key.
    bucket = f"limits:{org.id}:{answer.get_json()['id']}:requests"
    seconds, us = runtime.redis.time()
    runtime.redis.set(bucket, (seconds + MANY) * 1_000_000 + us)
    for refusal in (
        client.get("/v1/sessions", headers=headers),
        client.get("/v1/sessions/unknown", headers=headers),
        send(client, headers, 1),
    ):
        assert (refusal.status_code, refusal.get_json()["code"]) == (429, "over_limit")
        assert quotas(refusal.headers)["key_requests"]["r"] == 0
        assert int(refusal.headers["Retry-After"]) > MANY / 2
    assert waiting_payloads(runtime, org) == []
    assert client.get("/v1/sessions", headers=person()).status_code == 200
    assert client.get("/v1/sessions", headers=key()).status_code == 200


def test_the_soft_mode_refuses_nothing_and_counts_what_it_would_have(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, limit: Configure
) -> None:
    limit(mode="report", org_events_per_day=5, key_events_per_sec=1)
    headers = key()
    answers = [send(client, headers, count) for count in (4, 2, 1)]
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert all("RateLimit" not in answer.headers for answer in answers)
    assert len(waiting_payloads(runtime, org)) == 7
    counts = today(client, headers)
    assert (counts["enforced"], counts["events"]) == (False, 4)
    assert counts["refused_requests"] == 2
    assert counts["refused_by"]["org_events"] == 1
    limit(mode="enforce")
    assert send(client, headers, 2).status_code == 429


def test_exports_and_imports_are_refused_as_a_whole(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key, limit: Configure
) -> None:
    limit(org_events_per_day=1)
    headers = key()
    body = traces(make_span(1), make_span(2)).SerializeToString()
    kind = "application/x-protobuf"
    refusal = client.post("/v1/traces", data=body, content_type=kind, headers=headers)
    assert (refusal.status_code, refusal.content_type) == (503, kind)
    assert 0 < int(refusal.headers["Retry-After"]) <= 3
    assert "org_events" in quotas(refusal.headers)
    for dry_run, status in (("true", 200), ("false", 429)):
        answer = client.post(
            "/v1/events/import",
            query_string={"dry_run": dry_run},
            data=gzip.compress(lines(2)),
            content_type="application/octet-stream",
            headers=headers,
        )
        assert answer.status_code == status, answer.get_data()
    assert waiting_payloads(runtime, org) == []
    assert waiting_records(runtime, org) == []
    one = traces(make_span(1)).SerializeToString()
    assert (
        client.post("/v1/traces", data=one, content_type=kind, headers=headers).status_code == 200
    )


def test_a_request_is_counted_once(
    client: FlaskClient, key: Key, limit: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(org_events_per_day=1000, key_events_per_sec=1000, key_requests_per_sec=1000)
    counted, take = [], LimitCounts.take

    def counting(*given: Any, **more: Any) -> Any:
        counted.append(more)
        return take(*given, **more)

    monkeypatch.setattr(LimitCounts, "take", counting)
    assert send(client, key(), 3).status_code == 202
    assert counted == [{"requests": 1, "events": 3}]


def test_without_an_epoch_only_events_are_counted(
    runtime: Runtime, org: Org, limit: Configure
) -> None:
    """Redis was down when the request began, and may accept its events now."""
    limit(org_events_per_day=1)
    limits = Limits(runtime)
    assert limits.admit(org.id, "", None, None) == ()
    with pytest.raises(OverLimit):
        limits.admit(org.id, "", None, 5)
    [day] = limits.admit(org.id, "", None, 1)
    assert day.remaining == 0
