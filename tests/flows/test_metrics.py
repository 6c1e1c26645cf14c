"""The metrics of a web tier and a worker while events come in, compared with what was sent."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from devstack import DevStack
from devstack.ports import free_port
from shared.foundation.core.metrics.exporter import port_of
from shared.foundation.deployment.runtime import Runtime
from tests.support.databases import empty_databases, environment
from tests.support.events import event
from tests.support.processes import running, wait_until
from tests.support.runtime import connected, migrated, settings_for
from tests.support.scrape import scrape, total
from tests.support.server import Server, running_server

pytestmark = pytest.mark.flow

ADMIN_KEY = "admin-key-of-a-measured-server"
KEY = f"Bearer {ADMIN_KEY}"
NDJSON = "application/x-ndjson"


@pytest.fixture
def own(
    stack: DevStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Runtime, dict[str, str]]]:
    """Migrated databases with nothing in them, and the variables of a measured deployment."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    port = next(port for port in iter(free_port, None) if port < 65_000)
    with empty_databases(stack.urls) as urls:
        settings = settings_for(urls, metrics_port=port, ingest_processes=2)
        migrated(settings)
        variables = {
            **environment(urls),
            "METRICS_PORT": str(port),
            "TMPDIR": str(tmp_path),
            "ADMIN_KEY": ADMIN_KEY,
            "WEB_CONCURRENCY": "2",
        }
        with connected(settings) as made:
            made.redis.flushdb()
            yield made, variables


def send(server: Server, lines: list[bytes]) -> tuple[int, int]:
    """Sends a batch on a connection of its own and returns the status and the good events."""
    status, _, _ = server.request(
        "POST", "/v1/events", b"\n".join(lines), Authorization=KEY, Content_Type=NDJSON
    )
    good = sum(line != b"bad" for line in lines)
    return status, good if status == 202 else 0


def test_the_numbers_are_those_of_what_was_sent(
    own: tuple[Runtime, dict[str, str]], tmp_path: Path
) -> None:
    runtime, variables = own
    web_port, worker_port = (port_of(runtime.settings, name) for name in ("web", "worker"))
    assert web_port is not None
    assert worker_port is not None
    with running_server(variables, tmp_path / "web.log") as server:
        sent = [
            [event(f"s{batch}", "10:00:00", n=n) for n in range(batch + 1)] + [b"bad"]
            for batch in range(20)
        ]
        good = sum(send(server, lines)[1] for lines in sent)
        assert good == 210
        assert server.request("GET", "/v1/sessions/nothing-here", Authorization=KEY)[0] == 404
        assert server.request("GET", "/v1/secret-path?q=1")[0] == 404
        # The public port knows nothing of metrics.
        assert server.request("GET", "/metrics")[2].find(b"watchpost_") == -1

        web = scrape(web_port)
        events = ('method="POST"', 'route="/v1/events"', 'status="202"')
        assert total(web, "watchpost_http_requests_total", *events) == 20
        assert total(web, "watchpost_http_request_seconds_count", *events[:2]) == 20
        assert total(web, "watchpost_http_requests_total", 'route="none"', 'status="404"') == 2
        assert web['watchpost_ingest_accepted_total{way="events"}'] == good
        assert web['watchpost_ingest_skipped_total{way="events"}'] == 20
        assert web['watchpost_processes{process="web"}'] == 2
        assert not [name for name in web if "secret" in name or "nothing-here" in name]

        with running("workers.supervisor", settings=runtime.settings) as supervisor:
            wait_until(lambda: stored(worker_port) == good)
            worker = scrape(worker_port)
            assert worker["watchpost_ingest_batch_events_sum"] == good
            assert worker["watchpost_ingest_batch_events_count"] >= 1
            inserts = worker["watchpost_ingest_insert_seconds_count"]
            assert inserts == worker["watchpost_ingest_batch_events_count"]
            assert total(worker, "watchpost_processes") == 5
            wait_until(lambda: scrape(worker_port)["watchpost_ingest_lag_seconds"] == 0)
            assert total(scrape(worker_port), "watchpost_store_up") == 3
            for name in ("watchpost_dead_letters", "watchpost_mails_queued"):
                assert worker[name] == 0

            # Killed processes take no number with them.
            for child in psutil.Process(supervisor.pid).children():
                child.kill()
            before = stored(worker_port, otherwise=good)
            assert before == good
            assert send(server, sent[3])[0] == 202
            send(server, [event("new", "11:00:00")])
            wait_until(lambda: stored(worker_port) == good + 4 + 1)


def stored(port: int, otherwise: float = -1) -> float:
    """Returns the number of stored events; `otherwise` while nothing listens."""
    try:
        return scrape(port)["watchpost_ingest_stored_events_total"]
    except OSError:
        return otherwise
