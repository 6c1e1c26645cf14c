"""The command `import`: whole files, each with its answer."""

from __future__ import annotations

import gzip
import json

import pytest

from harness.collector import Collector
from harness.events import event, write
from harness.watchpost import Watchpost, refusal

IMPORT = "/v1/events/import"


def test_a_file_and_all_options_are_sent(collector: Collector, watchpost: Watchpost) -> None:
    path = write(collector.home / "runs" / "a b.json", [event(1)])
    done = collector.run(
        *("import", path, "--format", "atif", "--environment", "ci", "--dry-run"),
        *("--started-at", "2026-11-22T08:00:00Z", "--replace"),
    )
    assert done.returncode == 0
    [request] = watchpost.to(IMPORT)
    assert request.query == {
        "path": "runs/a b.json",
        "format": "atif",
        "environment": "ci",
        "dry_run": "true",
        "replace": "true",
        "started_at": "2026-11-22T08:00:00Z",
    }
    assert request.body == event(1) + b"\n"
    assert request.headers["x-watchpost-machine-id"]
    assert done.stdout == (
        f"{path}: atif, dry run, 1 accepted, 0 duplicate, 0 skipped, 0 ignored, 0 held back,"
        " 1 sessions\nimport: 1 files, 1 accepted, 0 skipped, 0 left\n"
    )


def test_dimensions_are_parameters(collector: Collector, watchpost: Watchpost) -> None:
    path = write(collector.home / "a.jsonl", [event(1)])
    done = collector.run(
        *("import", path, "--user", "zo\u00eb & co", "--agent-version", "1.2", "--tag", "a,b"),
        *("--tag", "c", "--attribute", "plan=pro", "--attribute", "a/b:c=x=y"),
    )
    assert done.returncode == 0
    [request] = watchpost.to(IMPORT)
    assert request.query == {
        "path": "home/a.jsonl",
        "user_id": "zo\u00eb & co",
        "agent_version": "1.2",
        "tags": "a\\,b,c",
        "attr.plan": "pro",
        "attr.a/b:c": "x=y",
    }


def test_what_is_not_given_is_left_to_watchpost(collector: Collector, watchpost: Watchpost) -> None:
    path = write(collector.home / "a.jsonl", [event(1)])
    collector.run("import", path)
    [request] = watchpost.to(IMPORT)
    assert request.query == {"path": "home/a.jsonl"}


def test_gzip_is_sent_as_it_is(collector: Collector, watchpost: Watchpost) -> None:
    path = collector.home / "a.jsonl.gz"
    path.write_bytes(gzip.compress(event(1)))
    assert collector.run("import", path).returncode == 0
    assert watchpost.to(IMPORT)[0].packed == path.read_bytes()


def test_files_after_a_bad_one_are_imported(collector: Collector, watchpost: Watchpost) -> None:
    good = write(collector.home / "a.jsonl", [event(1)])
    watchpost.replies.append(refusal(422, "no format fits this file", code="unknown_format"))
    done = collector.run("import", good, collector.home / "missing.jsonl", collector.home, good)
    assert done.returncode == 1
    first, missing, folder, _, summary = done.stdout.splitlines()
    assert first == f"{good}: 422 no format fits this file"
    assert "No such file" in missing
    assert "Is a directory" in folder
    assert summary == "import: 1 files, 1 accepted, 0 skipped, 3 left"


def test_a_refused_key_ends_it(collector: Collector, watchpost: Watchpost) -> None:
    path = write(collector.home / "a.jsonl", [event(1)])
    collector.variables["WATCHPOST_KEY"] = "wpk_other"
    done = collector.run("import", path, path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "Check WATCHPOST_KEY or --key-file" in done.stderr


def test_json_is_the_answer(collector: Collector) -> None:
    path = write(collector.home / "a.jsonl", [event(1)])
    line, summary = collector.run("import", path, "--json").stdout.splitlines()
    assert json.loads(line)["format"] == "auto"
    assert json.loads(summary)["import"]["accepted"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.jsonl", "--format", "csv"],
        ["a.jsonl", "--user", ""],
        ["a.jsonl", "--user", "a" * 257],
        ["a.jsonl", "--agent-version", "a" * 129],
        ["a.jsonl", "--tag", "a\nb"],
        ["a.jsonl", "--tag", "a\\"],
        ["a.jsonl", "--tag", "a" * 65],
        ["a.jsonl", "--attribute", "plan"],
        ["a.jsonl", "--attribute", "plan="],
        ["a.jsonl", "--attribute", "=pro"],
        ["a.jsonl", "--attribute", "a b=pro"],
        ["a.jsonl", "--attribute", f"plan={'a' * 257}"],
    ],
)
def test_wrong_usage(collector: Collector, arguments: list[str]) -> None:
    done = collector.run("import", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: watchpost-collect import" in done.stderr


@pytest.mark.parametrize("option", ["--tag", "--attribute"])
def test_too_many_of_an_option(collector: Collector, option: str) -> None:
    given = [argument for number in range(33) for argument in (option, f"a{number}=b")]
    done = collector.run("import", "a.jsonl", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} may be given at most 32 times" in done.stderr
