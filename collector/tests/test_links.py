"""Folders into which others may write: links are left alone, and so are files of others."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.collector import Collector
from harness.events import event, names, write
from harness.watchpost import Watchpost, refusal
from watchpost_collect import folder

SECRET = b"-----BEGIN OPENSSH PRIVATE KEY-----\n"
NOBODY = 65534

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can give a file to another user"
)


@pytest.fixture
def secret(collector: Collector) -> Path:
    path = collector.home / ".ssh" / "id_ed25519"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


def otlp_folder(collector: Collector) -> Path:
    path = collector.home / ".failproofai/state/spool-otlp"
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("place", ["events", "otlp", "claude", "codex", "below"])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.symlink, "x.jsonl is a link, and links are not followed"),
        (os.link, "it has a second name (a hard link)"),
    ],
)
def test_a_link_is_left_alone_and_reported(
    collector: Collector,
    watchpost: Watchpost,
    secret: Path,
    place: str,
    make: Callable[[Path, Path], None],
    reason: str,
) -> None:
    folders = {
        "events": collector.spool,
        "otlp": otlp_folder(collector),
        "claude": collector.home / ".claude/projects",
        "codex": collector.home / ".codex/sessions",
        "below": collector.home / ".claude/projects/a/b",
    }
    link = folders[place] / "x.jsonl"
    link.parent.mkdir(parents=True, exist_ok=True)
    make(secret, link)
    done = collector.run("watch", "--once", "--claude", "--codex")
    assert done.returncode == 1
    assert done.stderr.count(reason) == 1
    assert done.stdout.endswith("1 left\n")
    assert watchpost.requests == []
    assert (os.path.lexists(link), secret.read_bytes()) == (True, SECRET)


def test_a_folder_of_transcripts_that_is_a_link_is_left_alone(
    collector: Collector, watchpost: Watchpost
) -> None:
    elsewhere = write(collector.home / "elsewhere" / "a.jsonl", [event(1)]).parent
    projects = collector.home / ".claude/projects"
    projects.mkdir(parents=True)
    (projects / "linked").symlink_to(elsewhere)
    assert collector.run("watch", "--once", "--claude").returncode == 0
    assert watchpost.requests == []


def test_the_named_folder_may_be_a_link(collector: Collector, watchpost: Watchpost) -> None:
    real = write(collector.home / "real" / "a.jsonl", [event(1)]).parent
    (collector.home / "named").symlink_to(real)
    assert collector.run("watch", "--once", "--events", collector.home / "named").returncode == 0
    assert (watchpost.lines, names(real)) == ([event(1)], [])


@pytest.mark.parametrize("link", ["rejected", "rejected/a.jsonl", "rejected/a.jsonl.reason"])
def test_no_line_is_written_through_a_link(
    collector: Collector, watchpost: Watchpost, secret: Path, link: str
) -> None:
    """The file stays until its bad line can be kept."""
    path = collector.spool / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(secret if path.suffix else secret.parent)
    write(collector.spool / "a.jsonl", [event(1), b"ssh-ed25519 AAAA mallory"])
    done = collector.run("watch", "--once")
    assert done.returncode == 1
    assert f"{path.name} is a link" in done.stderr
    assert (names(secret.parent), secret.read_bytes()) == (["id_ed25519"], SECRET)
    assert (collector.spool / "a.jsonl").exists()


@pytest.mark.parametrize("place", ["poison", "sent"])
def test_no_file_is_moved_through_a_link(
    collector: Collector, watchpost: Watchpost, secret: Path, place: str
) -> None:
    (collector.spool / place).symlink_to(secret.parent)
    write(collector.spool / "a.jsonl", [event(1)])
    if place == "poison":
        watchpost.replies.append(refusal(422, "no"))
    done = collector.run("watch", "--once", "--keep")
    assert done.returncode == 1
    assert f"{place} is a link" in done.stderr
    assert names(secret.parent) == ["id_ed25519"]
    assert names(collector.spool) == sorted(["a.jsonl", place])


def test_own_folders_are_for_the_user_alone(collector: Collector, watchpost: Watchpost) -> None:
    write(collector.spool / "a.jsonl", [event(1), b"bad"])
    write(collector.spool / "b.jsonl", [event(2)])
    write(otlp_folder(collector) / "a.jsonl", [json.dumps({"path": "/elsewhere"}).encode()])
    collector.run("watch", "--once", "--keep")
    made = [collector.spool / "rejected", collector.spool / "sent"]
    made.append(collector.home / ".failproofai/state/spool-otlp/poison")
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3
    written = collector.spool / "rejected" / "a.jsonl"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with folder.opened(tmp_path) as opened, pytest.raises(folder.Unsafe, match="no regular file"):
        folder.open_file(opened, "a.jsonl")


def test_files_and_folders_of_other_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"theirs")
    (tmp_path / "rejected").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with folder.opened(tmp_path) as opened:
        with pytest.raises(folder.Unsafe, match=r"belongs to another user .*--any-owner sends it"):
            folder.open_file(opened, "a.jsonl")
        with folder.open_file(opened, "a.jsonl", any_owner=True) as file:
            assert file.read() == b"theirs"
        with pytest.raises(folder.Unsafe, match="rejected/ belongs to another user"):
            folder.made_below(opened, "rejected").__enter__()


def run_hook(collector: Collector, place: str) -> None:
    """Runs a hook that writes into this folder of the spool."""
    hook = {"session_id": "s", "hook_event_name": "Stop"}
    given = b"no hook" if place == "rejected" else json.dumps(hook).encode()
    assert collector.run("hook", given=given).returncode == 0


@pytest.mark.parametrize("place", [".sessions", "rejected"])
def test_a_hook_writes_and_removes_nothing_through_a_link(
    collector: Collector, secret: Path, place: str
) -> None:
    collector.spool.joinpath(place).symlink_to(secret.parent)
    os.utime(secret, (0, 0))
    run_hook(collector, place)
    assert names(secret.parent) == ["id_ed25519"]


@needs_root
@pytest.mark.parametrize("place", [".sessions", "rejected"])
def test_a_hook_writes_and_removes_nothing_in_a_folder_of_another_user(
    collector: Collector, place: str
) -> None:
    theirs = write(collector.spool / place / "old", []).parent
    os.utime(theirs / "old", (0, 0))
    os.chown(theirs, NOBODY, NOBODY)
    run_hook(collector, place)
    assert names(theirs) == ["old"]


@pytest.mark.parametrize("place", [".sessions", "rejected"])
def test_what_a_hook_writes_is_for_the_user_alone(collector: Collector, place: str) -> None:
    run_hook(collector, place)
    [written] = [*collector.spool.glob("*.jsonl"), *collector.spool.glob("rejected/*.jsonl")]
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(collector.spool.joinpath(place).stat().st_mode) == 0o700


@needs_root
def test_any_owner_sends_the_files_of_others(collector: Collector, watchpost: Watchpost) -> None:
    path = write(collector.spool / "a.jsonl", [event(1)])
    os.chown(path, NOBODY, NOBODY)
    done = collector.run("watch", "--once")
    assert f"the file belongs to another user (uid {NOBODY})" in done.stderr
    assert (done.returncode, watchpost.lines) == (1, [])
    assert collector.run("watch", "--once", "--any-owner").returncode == 0
    assert (watchpost.lines, names(collector.spool)) == ([event(1)], [])
