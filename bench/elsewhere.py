"""Runs today's benchmarks against the code of another commit."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yields a work tree of the commit with its own environment and today's `bench/`.

    Only the benchmarks are replaced: the service, devstack and the environment are the commit's.
    """
    with tempfile.TemporaryDirectory(prefix="watchpost-at-") as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            shutil.rmtree(tree / "bench")
            shutil.copytree(PROJECT / "bench", tree / "bench")
            subprocess.run([tree / "bin" / "setup"], check=True)
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def run_at(commit: str, arguments: Sequence[str]) -> int:
    """Runs `python -m bench` with these arguments at a commit. Returns its exit code."""
    with checked_out(commit) as tree:
        python = tree / ".venv" / "bin" / "python"
        measured_by = _git("rev-parse", "--short", "HEAD")
        command = [str(python), "-m", "bench", "--measured-by", measured_by, *arguments]
        return subprocess.run(command, cwd=tree, check=False).returncode


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
