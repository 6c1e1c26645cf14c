"""Files in a folder and in a bucket: both behave alike."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.foundation.core.errors import ConfigurationError, NotFound, Unavailable
from shared.foundation.objects import Objects, StoredFile, open_objects
from shared.foundation.objects.store import PIECE_BYTES
from tests.support.s3 import S3Server, s3_server

pytestmark = pytest.mark.flow


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Objects:
    if request.param == "folder":
        path: Path = request.getfixturevalue("tmp_path")
        return open_objects(str(path / "made" / "when needed"))
    server: S3Server = request.getfixturevalue("s3")
    for name, value in server.variables.items():
        monkeypatch.setenv(name, value)
    return open_objects(f"s3://{server.new_bucket()}/some/prefix")


def test_a_file_comes_back_as_it_was_put(objects: Objects) -> None:
    assert not objects.exists("a/b.txt")
    assert objects.put("a/b.txt", [b"one ", b"two"]) == 7
    assert objects.exists("a/b.txt")
    assert objects.read("a/b.txt") == b"one two"
    assert objects.put("a/b.txt", [b"three"]) == 5
    assert objects.read("a/b.txt") == b"three"
    assert objects.put("empty", []) == 0
    assert objects.read("empty") == b""


def test_a_large_file_is_read_in_pieces(objects: Objects) -> None:
    pieces = [bytes([number]) * (PIECE_BYTES // 2 + 1) for number in range(5)]
    assert objects.put("large", iter(pieces)) == sum(map(len, pieces))
    read = list(objects.get("large"))
    assert b"".join(read) == b"".join(pieces)
    assert max(map(len, read)) <= PIECE_BYTES


def test_a_list_has_the_files_of_a_folder_and_below(objects: Objects) -> None:
    assert list(objects.list()) == []
    for name in ("x/1", "x/y/2", "xy/3"):
        objects.put(name, [b"12"])
    assert sorted(objects.list("x")) == [StoredFile("x/1", 2), StoredFile("x/y/2", 2)]
    assert {entry.name for entry in objects.list()} == {"x/1", "x/y/2", "xy/3"}
    assert list(objects.list("nothing")) == []


def test_a_deleted_file_is_gone(objects: Objects) -> None:
    objects.put("x", [b"1"])
    objects.delete("x")
    objects.delete("x")
    assert objects.size("x") is None


def test_a_missing_file_is_not_found(objects: Objects) -> None:
    with pytest.raises(NotFound):
        objects.read("missing")


@pytest.mark.parametrize("pieces", [1, 5])
def test_a_file_that_was_not_finished_never_appears(objects: Objects, pieces: int) -> None:
    def failing() -> Iterator[bytes]:
        for _ in range(pieces):
            yield bytes(PIECE_BYTES // 2)
        raise NotFound("the source ended early")

    with pytest.raises(NotFound, match="ended early"):
        objects.put("torn", failing())
    assert list(objects.list()) == []


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a//b", "a/./b"])
def test_names_stay_below_the_target(objects: Objects, name: str) -> None:
    with pytest.raises(ValueError, match="below the target"):
        objects.put(name, [b""])


def test_only_the_owner_may_read_a_file(tmp_path: Path) -> None:
    open_objects(str(tmp_path)).put("secret", [b"1"])
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_the_next_put_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    objects = open_objects(str(tmp_path))
    left, other = tmp_path / "file.0.unfinished", tmp_path / "another.0.unfinished"
    for path in (left, other):
        path.write_bytes(b"1")

    def pieces() -> Iterator[bytes]:
        yield b"1"
        # Another process writes the same file meanwhile, and leaves the one at work alone.
        open_objects(str(tmp_path)).put("file", [b"2"])
        assert len(list(tmp_path.glob("file.*.unfinished"))) == 1
        assert not left.exists()
        yield b"3"

    objects.put("file", pieces())
    assert objects.read("file") == b"13"
    assert [path.name for path in tmp_path.glob("*.unfinished")] == [other.name]


def test_a_bucket_that_is_missing_is_said(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable, match="no-such-bucket"):
        open_objects("s3://no-such-bucket").put("x", [b"1"])


@pytest.mark.parametrize("target", ["gs://bucket", "http://host/x", "s3://", "s3:///x", ""])
def test_other_targets_are_refused(target: str) -> None:
    with pytest.raises(ConfigurationError):
        open_objects(target)


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match="cannot use"):
        open_objects(str(tmp_path / "file")).put("x", [b"1"])
