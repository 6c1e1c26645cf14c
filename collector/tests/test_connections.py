"""The ways to the server: through a proxy, over TLS, below a path."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.events import event, write
from harness.watchpost import Watchpost, running_watchpost


def test_a_proxy_of_the_environment_is_used(collector: Collector, watchpost: Watchpost) -> None:
    collector.variables.update(http_proxy=collector.url, WATCHPOST_URL="http://watchpost.test")
    write(collector.spool / "a.jsonl", [event(1)])
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.requests[0].headers["host"] == "watchpost.test:80"


def test_loopback_needs_no_proxy(collector: Collector, watchpost: Watchpost) -> None:
    collector.variables["http_proxy"] = "http://127.0.0.1:1"
    write(collector.spool / "a.jsonl", [event(1)])
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1)]


def test_watchpost_may_be_below_a_path(collector: Collector, watchpost: Watchpost) -> None:
    watchpost.prefix = "/tools/watchpost"
    collector.variables["WATCHPOST_URL"] = f"{collector.url}/tools/watchpost"
    write(collector.spool / "a.jsonl", [event(1)])
    assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1)]


def test_tls_with_a_known_authority_and_with_no_other(
    python: str, home: Path, compiled: Path, tmp_path: Path
) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme makes the certificates")
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    known = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(known)
    with running_watchpost(context) as watchpost:
        collector = Collector(python, home, watchpost.url, compiled)
        write(collector.spool / "a.jsonl", [event(1)])
        assert "certificate verify failed" in collector.run("doctor").stdout
        collector.variables["SSL_CERT_FILE"] = str(known)
        assert collector.run("watch", "--once").returncode == 0
    assert watchpost.lines == [event(1)]
