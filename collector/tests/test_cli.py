"""Usage, settings, the lock and the id of the machine."""

from __future__ import annotations

import uuid

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import KEY, Watchpost
from watchpost_collect.errors import UsageError
from watchpost_collect.settings import read_target

GIVEN = {"WATCHPOST_URL": "http://localhost", "WATCHPOST_KEY": KEY}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["watch", "import", "hook", "doctor", "WATCHPOST_URL", "exit status"]),
        (["watch", "--help"], ["--once", "--claude", "--keep", "--url", "--user", "exit status"]),
        (["import", "--help"], ["--format", "atif", "--started-at", "--attribute K=V"]),
        (["hook", "--help"], ["--spool", "--print-settings"]),
        (["doctor", "--help"], ["--json"]),
        (["--version"], ["watchpost-collect 0."]),
    ],
)
def test_help(collector: Collector, arguments: list[str], words: list[str]) -> None:
    done = collector.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert [word for word in words if word not in done.stdout] == []


@pytest.mark.parametrize(
    "arguments", [[], ["send"], ["watch", "--twice"], ["watch", "--environment", "a,b"]]
)
def test_wrong_usage(collector: Collector, arguments: list[str]) -> None:
    done = collector.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: watchpost-collect" in done.stderr


@pytest.mark.parametrize("command", [["watch", "--once"], ["import", "a"]])
@pytest.mark.parametrize("missing", ["WATCHPOST_URL", "WATCHPOST_KEY"])
def test_a_missing_setting_is_named(collector: Collector, command: list[str], missing: str) -> None:
    collector.variables[missing] = ""
    done = collector.run(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"set {missing}" in done.stderr


def test_options_win_over_variables(collector: Collector, watchpost: Watchpost) -> None:
    key_file = collector.home / "key"
    key_file.write_text(f"{KEY}\n")
    collector.variables.update(WATCHPOST_URL="http://127.0.0.1:1", WATCHPOST_KEY="wpk_other")
    write(collector.spool / "a.jsonl", [event(1)])
    options = ("--url", f"{watchpost.url}/v1/", "--key-file", key_file)
    assert collector.run("watch", "--once", *options).returncode == 0
    assert watchpost.lines == [event(1)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://h", "http://h:80"),
        ("https://h/", "https://h:443"),
        ("https://h:8443/watchpost/v1", "https://h:8443/watchpost"),
        ("http://[::1]:8000/v1/", "http://[::1]:8000"),
    ],
)
def test_urls(url: str, said: str) -> None:
    assert read_target(url, None, GIVEN).url == said


@pytest.mark.parametrize(
    "url", ["h:8000", "ftp://h", "http://", "http://h:port", "http://u:p@h", "http://h?a=b"]
)
def test_malformed_urls(url: str) -> None:
    with pytest.raises(UsageError, match="URL"):
        read_target(url, None, GIVEN)


@pytest.mark.parametrize("key", ["two words", "two\nlines", "schl\u00fcssel"])
def test_malformed_keys(key: str) -> None:
    with pytest.raises(UsageError, match="the key must be one line"):
        read_target(None, None, {**GIVEN, "WATCHPOST_KEY": key})


def test_a_key_file_that_cannot_be_read() -> None:
    with pytest.raises(UsageError, match="cannot read the key file"):
        read_target(None, "/no/such/file", GIVEN)


def test_the_machine_keeps_its_id(collector: Collector, watchpost: Watchpost) -> None:
    for number in range(2):
        write(collector.spool / "a.jsonl", [event(number)])
        collector.run("watch", "--once")
    one, two = (request.headers["x-watchpost-machine-id"] for request in watchpost.requests)
    assert one == two == str(uuid.UUID(one))
    assert "machine-id" in names(collector.state)
    assert collector.state.stat().st_mode & 0o077 == 0


def test_the_state_has_one_user(collector: Collector, watchpost: Watchpost) -> None:
    write(collector.spool / "a.jsonl", [event(1)])
    with collector.start("watch") as first:
        try:
            assert first.stdout is not None
            first.stdout.readline()  # it has the lock, and has sent the file
            second = collector.run("watch", "--once")
            assert (second.returncode, second.stdout) == (1, "")
            assert f"another watchpost-collect (process {first.pid}) works with" in second.stderr
            assert "--state DIR" in second.stderr
            other = collector.run("watch", "--once", "--state", collector.home / "other")
            assert other.returncode == 0
        finally:
            first.terminate()
            first.communicate()
    assert collector.run("watch", "--once").returncode == 0


def test_a_state_that_cannot_be_made(collector: Collector) -> None:
    (collector.home / "file").write_text("")
    done = collector.run("watch", "--once", "--state", collector.home / "file" / "state")
    assert done.returncode == 1
    assert "cannot create the folder" in done.stderr
