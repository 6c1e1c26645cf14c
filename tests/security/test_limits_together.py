"""Limits hold for all web processes together."""

import json
from concurrent.futures import ThreadPoolExecutor

from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import new_key
from tests.support.runtime import Org
from tests.support.server import Server
from tests.support.streams import waiting_payloads

KEY = "limits.org_events_per_day"
KIND = "application/x-ndjson"


def test_two_processes_share_one_count(servers: list[Server], runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        settings.replace(session, runtime.settings, org.uuid, KEY, 95, Editor("test", None))
    headers = {name.replace("-", "_"): value for name, value in new_key(runtime, org).items()}
    event = {"session_id": "s", "timestamp": "2026-11-01T10:00:00Z", "type": "note"}

    def post(number: int) -> int:
        body = b"\n".join(json.dumps({**event, "n": [number, n]}).encode() for n in range(10))
        server = servers[number % 2]
        return server.request("POST", "/v1/events", body, Content_Type=KIND, **headers)[0]

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(post, range(20)))
    assert statuses == [202] * 9 + [429] * 11
    assert len(waiting_payloads(runtime, org)) == 90
