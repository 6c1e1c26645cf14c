"""`bin/test --changed` finds the tests of a noun by its folder's name, in every tier."""

import subprocess
from pathlib import Path

import pytest

from tests.support.changed import EVERYTHING, changed_files, choose, outermost

TESTS = [
    "collector/tests/test_hook.py",
    "tests/contracts/test_alerts.py",
    "tests/contracts/test_keys.py",
    "tests/devstack/test_ports.py",
    "tests/shared/alerts/evaluation/test_turns.py",
    "tests/shared/alerts/test_models.py",
    "tests/shared/postgres/test_locks.py",
    "tests/shared/sessions/test_totals.py",
    "tests/test_docs.py",
    "tests/web/alerts/test_alerts.py",
    "tests/web/sign_in/test_codes.py",
    "tests/web/test_paths.py",
]
OF_ALERTS = ["tests/contracts/test_alerts.py", "tests/shared/alerts", "tests/web/alerts"]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("shared/alerts/models.py", {"alerts": OF_ALERTS}),
        ("web/alerts/routes.py", {"alerts": OF_ALERTS}),
        ("workers/alerts/loop.py", {"alerts": OF_ALERTS}),
        ("tests/web/alerts/conftest.py", {"alerts": OF_ALERTS}),
        ("shared/keys/service.py", {"keys": ["tests/contracts/test_keys.py"]}),
        ("devstack/ports.py", {"devstack": ["tests/devstack"]}),
        ("tests/contracts/test_keys.py", {"contracts": ["tests/contracts"]}),
        ("tests/web/test_paths.py", {"tests/web/test_paths.py": ["tests/web/test_paths.py"]}),
        ("tests/web/test_removed.py", {"tests/web/test_removed.py": []}),
        ("web/app.py", {"web": ["tests/web"]}),
        ("docs/alerts.md", {"docs": ["tests/test_docs.py"]}),
        ("README.md", {"docs": ["tests/test_docs.py"]}),
        ("bench/ingest.py", {}),
        ("collector/watchpost_collect/hook.py", {"collector": ["collector"]}),
        ("LICENSE", {}),
    ],
)
def test_a_file_chooses_the_tests_of_its_noun(name: str, chosen: dict[str, list[str]]) -> None:
    assert choose([name], TESTS) == chosen


def test_a_folder_inside_a_noun_is_a_noun_where_it_has_tests() -> None:
    assert choose(["shared/alerts/evaluation/turns.py"], TESTS) == {
        "alerts": OF_ALERTS,
        "evaluation": ["tests/shared/alerts/evaluation"],
    }
    assert choose(["shared/sessions/sign_in/a.py", "shared/sessions/rows/a.py"], TESTS) == {
        "sessions": ["tests/shared/sessions"],
        "sign_in": ["tests/web/sign_in"],
    }


def test_no_test_is_chosen_twice() -> None:
    chosen = [["tests/shared/alerts/evaluation", "tests/web/b"], ["tests/shared/alerts"], []]
    assert outermost(chosen) == ["tests/shared/alerts", "tests/web/b"]
    assert outermost([*chosen, EVERYTHING]) == EVERYTHING


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("shared/postgres/leases.py", "postgres"),
        ("shared/clock.py", "shared"),
        ("tests/support/events.py", "support"),
        ("tests/conftest.py", "tests"),
        ("tests/shared/conftest.py", "tests"),
        ("shared/untested/models.py", "untested"),
        ("bin/setup", "bin"),
        ("setup.cfg", "setup.cfg"),
    ],
)
def test_a_change_of_a_foundation_runs_everything(name: str, noun: str) -> None:
    assert choose([name], TESTS) == {noun: EVERYTHING}


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=Someone", "-c", "user.email=someone@example.com")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose branch `main` has two commits, `first` and `second`."""
    git(tmp_path, "init", "-b", "main")
    for name in ("first", "second"):
        commit(tmp_path, name)
    return tmp_path


def commit(project: Path, name: str) -> None:
    (project / name).write_text(name)
    git(project, "add", name)
    git(project, "commit", "-m", name)


def test_on_main_the_last_commit_differs(project: Path) -> None:
    assert changed_files(project) == ("HEAD~1", ["second"])


def test_on_main_what_is_uncommitted_comes_first(project: Path) -> None:
    (project / "first").write_text("other")
    (project / "new").write_text("new")
    assert changed_files(project) == ("the last commit", ["first", "new"])


def test_on_a_branch_everything_since_main(project: Path) -> None:
    git(project, "switch", "-c", "branch")
    commit(project, "third")
    git(project, "mv", "first", "moved")
    compared_with, changed = changed_files(project)
    assert compared_with.startswith("main (")
    assert changed == ["first", "moved", "third"]
    git(project, "switch", "main", "--discard-changes")
    commit(project, "elsewhere")
    git(project, "switch", "branch", "--discard-changes")
    assert "elsewhere" not in changed_files(project)[1]
