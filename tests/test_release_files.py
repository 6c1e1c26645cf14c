"""The files of a release: complete, signed, and refused when a byte differs."""

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import msgspec
import pytest

from bench.results import Chaos, Storm, keep_storm, missing_for_release, origin, read_chaos
from shared.foundation.core.version import VERSION
from tests.support.markdown import PROJECT

NAMESPACE = "watchpost-release"
ARCHIVE = f"watchpost-{VERSION}.tar.gz"
WHEELS = {
    f"{initial.parent.name}-{version}-py3-none-any.whl"
    for initial in PROJECT.glob("*/watchpost_*/__init__.py")
    for version in re.findall(r'^__version__ = "(.*)"$', initial.read_text(), re.M)
}
# The packages that production and the bundle are made of.
PACKAGES = {of: f"watchpost-{VERSION}.{of}.cdx.json" for of in ("python", "web")}

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm"),
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH"),
    pytest.mark.skipif(not (PROJECT / ".git").exists(), reason="needs a checkout"),
]


def chaos(**changes: object) -> Chaos:
    """Returns two hours of faults that passed at the current commit, with these changes."""
    whole = {"minutes": 60.0, "faults": 200, "organizations": 2, "problems": list[str](), **changes}
    commit = run("git", "rev-parse", "HEAD", cwd=PROJECT).stdout.decode().strip()
    storms = [msgspec.convert({"seed": seed, **whole}, Storm) for seed in (1, 2)]
    return Chaos(commit=commit, date="2026-11-24T00:00:00+00:00", cores=2, runs=storms)


def kept(folder: Path, **changes: object) -> Path:
    """Writes these results into a file."""
    path = folder / "chaos.json"
    path.write_bytes(msgspec.json.encode(chaos(**changes)))
    return path


def test_a_release_has_survived_two_hours_of_faults() -> None:
    tags = run("git", "tag", "--points-at", "HEAD", cwd=PROJECT).stdout.decode().split()
    if f"v{VERSION}" in tags:
        assert missing_for_release(read_chaos()) is None
    assert missing_for_release(chaos()) is None


def test_what_the_faults_have_to_prove() -> None:
    assert "no result" in str(missing_for_release(None))
    assert "an hour" in str(missing_for_release(chaos(minutes=8.0)))
    assert "an hour" in str(missing_for_release(chaos(seed=7)))
    assert "problems" in str(missing_for_release(chaos(problems=["an event is missing"])))
    assert "with changes" in str(missing_for_release(chaos(changed=True)))
    earlier = chaos()
    earlier.commit = "0" * 40
    assert "has changed" in str(missing_for_release(earlier))


def test_a_storm_is_of_the_code_with_which_it_began(tmp_path: Path) -> None:
    run("git", "init", "--quiet", tmp_path)
    (tmp_path / "code.py").write_text("before")
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run("git", "add", ".", cwd=tmp_path)
    assert run("git", *name, "commit", "-qm", "before", cwd=tmp_path).returncode == 0
    (tmp_path / "README.md").write_text("has no effect")
    began = origin(tmp_path)
    assert not began.changed
    (tmp_path / "code.py").write_text("after")
    assert origin(tmp_path) == began._replace(changed=True)

    path = tmp_path / "kept.json"
    [one, two] = chaos(changed=True).runs
    keep_storm(one, began.commit, path)
    keep_storm(two, began.commit, path)
    found = read_chaos(path)
    assert found is not None
    assert (found.commit, found.runs) == (began.commit, [one, two])
    keep_storm(two, "another", path)
    found = read_chaos(path)
    assert found is not None
    assert (found.commit, found.runs) == ("another", [two])


def test_results_of_before_that_field_can_be_read(tmp_path: Path) -> None:
    rows = msgspec.to_builtins(chaos())
    for row in rows["runs"]:
        del row["changed"]
    path = tmp_path / "chaos.json"
    path.write_bytes(msgspec.json.encode(rows))
    assert missing_for_release(read_chaos(path)) is None


def run(*command: str | Path, **options: object) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(command, capture_output=True, check=False, **options)  # type: ignore[call-overload,no-any-return] # options of run


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A throwaway key, with the file that trusts it."""
    made = tmp_path_factory.mktemp("key") / "release"
    assert run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made).returncode == 0
    public = made.with_suffix(".pub").read_text().split()
    trusted = f'release@example.org namespaces="{NAMESPACE}" {public[0]} {public[1]}'
    (made.parent / "allowed_signers").write_text(trusted)
    return made


@pytest.fixture(scope="module")
def made(key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    storms = kept(key.parent)
    done = run(PROJECT / "bin/release-files", "--sign", key, "--storms", storms, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_files_are_made_of_a_commit_without_its_hours_of_faults(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    for storms in (tmp_path / "none.json", kept(tmp_path, problems=["an event is missing"])):
        done = run(PROJECT / "bin/release-files", "--storms", storms, folder)
        assert done.returncode == 1
        assert b"not fit for a release" in done.stderr
        assert not folder.exists()


@pytest.fixture
def released(made: Path, tmp_path: Path) -> Path:
    """The files of a release, which the test may change."""
    return Path(shutil.copytree(made, tmp_path / "released"))


def is_signed(folder: Path, key: Path) -> bool:
    """Returns whether the signature of SHA256SUMS is right, as docs/run/deploy.md tells users."""
    signers, signature = key.parent / "allowed_signers", folder / "SHA256SUMS.sig"
    done = run(
        *("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "release@example.org"),
        *("-n", NAMESPACE, "-s", signature),
        input=(folder / "SHA256SUMS").read_bytes(),
    )
    return done.returncode == 0


def is_whole(folder: Path, root: Path = PROJECT) -> bool:
    """Returns whether the files match SHA256SUMS."""
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        at = root if "web/ui/static" in line else folder
        if run("sha256sum", "--check", "--status", cwd=at, input=line.encode()).returncode:
            return False
    return True


def test_the_files_are_whole_and_signed(released: Path, key: Path) -> None:
    assert is_signed(released, key)
    assert is_whole(released)
    listed = {line.split("  ", 1)[1] for line in (released / "SHA256SUMS").read_text().splitlines()}
    static = {
        str(path.relative_to(PROJECT))
        for path in (PROJECT / "web/ui/static").rglob("*")
        if path.is_file()
    }
    assert listed == static | WHEELS | {ARCHIVE, *PACKAGES.values()}
    assert all((released / wheel).exists() for wheel in WHEELS)
    with tarfile.open(released / ARCHIVE) as archive:
        assert f"watchpost-{VERSION}/setup.cfg" in archive.getnames()


def test_the_packages_are_those_of_the_lock_files(released: Path) -> None:
    locked = re.findall(r"^([a-z0-9._-]+)==(\S+)", (PROJECT / "requirements.txt").read_text(), re.M)
    assert packages_in(released / PACKAGES["python"]) == set(locked)
    in_bundle = re.findall(
        r"^## (\S+) (\S+) ", (PROJECT / "web/ui/static/THIRD-PARTY.md").read_text(), re.M
    )
    assert packages_in(released / PACKAGES["web"]) >= set(in_bundle)


def packages_in(file: Path) -> set[tuple[str, str]]:
    """Returns name and version of each package in a list."""
    listed = json.loads(file.read_text())
    assert listed["bomFormat"] == "CycloneDX"
    return {(part["name"], part["version"]) for part in listed["components"]}


def test_a_flipped_byte_of_the_list_is_noticed(released: Path, key: Path) -> None:
    flip(released / "SHA256SUMS")
    assert not is_signed(released, key)


def test_a_flipped_byte_of_a_file_is_noticed(released: Path, key: Path, tmp_path: Path) -> None:
    flip(released / ARCHIVE)
    assert is_signed(released, key)
    assert not is_whole(released)


def test_a_flipped_byte_of_the_bundle_is_noticed(released: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(PROJECT / "web/ui/static", copied / "web/ui/static")
    assert is_whole(released, copied)
    flip(next((copied / "web/ui/static").glob("*.js")))
    assert not is_whole(released, copied)


def test_the_signature_of_another_key_is_refused(released: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other).returncode == 0
    public = other.with_suffix(".pub").read_text().split()
    (tmp_path / "allowed_signers").write_text(f"release@example.org {public[0]} {public[1]}")
    assert not is_signed(released, other)


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
