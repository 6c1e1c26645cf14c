"""`try` runs evaluators over exports, from files and from Watchpost, and stores nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.serving import Reply, exporting, running
from kit.sessions import exports
from watchpost_evaluator import cli

KEY = "wpk_test"
MODULE = '''
from watchpost_evaluator import *

@evaluator("tools", version="2", result="number")
def tools(session):
    """Counts calls."""
    calls = session.tool_calls()
    if not calls:
        return Skip("no_tools")
    return Number(len(calls), "counted", unit="calls", passed=len(calls) < 9, evidence=calls[0])

@evaluator("ended", version="1", result="assertion")
async def ended(session):
    return Results({"ended": Assertion(session.ended_at is not None), "how": Text("a\\nb")}, "ok")
'''
BAD = """
from watchpost_evaluator import *

@evaluator("bad", version="1")
def bad(session):
    return Score(session.nothing)

@evaluator("slow", version="1", timeout=0.05)
async def slow(session):
    import asyncio
    await asyncio.sleep(60)
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(MODULE)
    return str(file)


@pytest.fixture
def export(tmp_path: Path) -> str:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(exports()[0]))
    return str(file)


def test_it_prints_a_line_for_each_value(
    module: str, export: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["try", module, "--file", export]) == 0
    [head, *lines] = capsys.readouterr().out.splitlines()
    assert head.startswith("airline-000-t0: ")
    assert lines == [
        "  tools@2  8 calls  passed  counted  (events 16, 17)",
        "  ended@1  true",
        "  ended@1  how  a b",
        "  ended@1  ok",
    ]


def test_one_evaluator_as_json(
    module: str, export: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["try", module, "--file", export, "--evaluator", "tools", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("duration_ms") >= 0
    assert told == {
        "session_id": "airline-000-t0",
        "evaluator": "tools",
        "version": "2",
        "status": "done",
        "results": [
            {
                "key": "tools",
                "kind": "number",
                "value": 8.0,
                "passed": True,
                "unit": "calls",
                "reasoning": "counted",
                "evidence": [16, 17],
            }
        ],
    }


def test_a_failure_is_told_and_the_next_evaluator_runs(
    export: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    assert cli.main(["try", str(file), "--file", export]) == 1
    told = capsys.readouterr()
    assert "bad@1  error: AttributeError: 'Session' object has no attribute 'nothing'" in told.out
    assert "slow@1  timeout: it took more than 0.05 s" in told.out
    assert "return Score(session.nothing)" in told.err


def test_what_is_missing_is_named(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "nowhere.json")
    assert cli.main(["try", module]) == 2
    assert cli.main(["try", module, "--file", nowhere, "--evaluator", "x"]) == 2
    assert cli.main(["try", module, "--file", nowhere]) == 1
    assert cli.main(["try", module, "--file", module]) == 1
    told = capsys.readouterr().err.splitlines()
    assert "name a session with --session ID" in told[0]
    assert "there is no evaluator x; there are ended@1, tools@2" in told[1]
    assert told[2].endswith("nowhere.json: No such file or directory")
    assert "mine.py is no exported session: line 2 is not JSON" in told[3]


@pytest.mark.flow
def test_sessions_of_watchpost(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("WATCHPOST_KEY", KEY)
    odd = {**exports()[0], "session_id": "a/b c"}
    with running(exporting({"a%2Fb%20c": odd, "second": exports()[1]}, KEY)) as url:
        monkeypatch.setenv("WATCHPOST_URL", f"{url}/v1/")
        assert cli.main(["try", module, "--session", "a/b c", "second"]) == 0
        assert capsys.readouterr().out.count("tools@2") == 2
        assert cli.main(["try", module, "--session", "second", "third"]) == 1
        told = capsys.readouterr()
        assert "tools@2" in told.out
        assert "cannot read the session third: 404 there is no such session" in told.err
        monkeypatch.setenv("WATCHPOST_KEY", "wrong")
        assert cli.main(["try", module, "--session", "second"]) == 3
        assert "the key needs the permission events:read" in capsys.readouterr().err
    assert cli.main(["try", module, "--session", "second"]) == 4
    assert "cannot reach Watchpost" in capsys.readouterr().err


@pytest.mark.flow
def test_a_redirect_is_not_followed(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WATCHPOST_KEY", KEY)
    reached = []

    def elsewhere(request: object) -> Reply:
        reached.append(request)
        return Reply(200, exports()[0])

    with running(elsewhere) as other:
        redirect = Reply(302, {}, {"Location": f"{other}/v1/sessions/x/export"})
        with running(lambda _request: redirect) as url:
            monkeypatch.setenv("WATCHPOST_URL", url)
            assert cli.main(["try", module, "--session", "x"]) == 1
    assert reached == []
    assert "the URL redirects to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "key", "problem"),
    [
        ("", KEY, "no URL: set WATCHPOST_URL"),
        ("file:///etc/passwd", KEY, "must look like https://"),
        ("http://a:99999", KEY, "WATCHPOST_URL is malformed"),
        ("http://me:you@a", KEY, "a host, a port and a path only"),
        ("http://a", "", "no key: set WATCHPOST_KEY"),
        ("http://a", "a\nb", "printable ASCII"),
    ],
)
def test_wrong_settings_are_named(
    url: str,
    key: str,
    problem: str,
    module: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WATCHPOST_URL", url)
    monkeypatch.setenv("WATCHPOST_KEY", key)
    assert cli.main(["try", module, "--session", "x"]) == 2
    assert problem in capsys.readouterr().err
