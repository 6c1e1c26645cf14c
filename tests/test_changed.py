"""`bin/test --changed` finds the tests of a noun by its folder's name, and by imports."""

import subprocess
from pathlib import Path

import pytest

from tests.support.changed import (
    EVERYTHING,
    PROJECT,
    changed_files,
    choose,
    imports_of,
    outermost,
)

TESTS = [
    "collector/tests/test_hook.py",
    "evaluator/tests/test_session.py",
    "tests/contracts/test_alerts.py",
    "tests/contracts/test_keys.py",
    "tests/devstack/test_ports.py",
    "tests/shared/watch/alerts/evaluation/test_turns.py",
    "tests/shared/watch/alerts/test_models.py",
    "tests/shared/foundation/postgres/test_locks.py",
    "tests/shared/reading/sessions/test_totals.py",
    "tests/test_docs.py",
    "tests/web/alerts/test_alerts.py",
    "tests/web/sign_in/test_codes.py",
    "tests/web/test_paths.py",
]
OF_ALERTS = ["tests/contracts/test_alerts.py", "tests/shared/watch/alerts", "tests/web/alerts"]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("shared/watch/alerts/models.py", {"alerts": OF_ALERTS}),
        ("web/alerts/routes.py", {"alerts": OF_ALERTS}),
        ("workers/alerts/loop.py", {"alerts": OF_ALERTS}),
        ("shared/access/keys/service.py", {"keys": ["tests/contracts/test_keys.py"]}),
        ("devstack/ports.py", {"devstack": ["tests/devstack"]}),
        (
            "shared/foundation/postgres/leases.py",
            {"postgres": ["tests/shared/foundation/postgres"]},
        ),
        (
            "tests/contracts/test_keys.py",
            {"tests/contracts/test_keys.py": ["tests/contracts/test_keys.py"]},
        ),
        ("tests/web/alerts/conftest.py", {"tests/web/alerts/conftest.py": ["tests/web/alerts"]}),
        ("tests/conftest.py", {"tests/conftest.py": EVERYTHING}),
        ("tests/web/test_paths.py", {"tests/web/test_paths.py": ["tests/web/test_paths.py"]}),
        ("tests/web/test_removed.py", {"tests/web/test_removed.py": []}),
        ("web/app.py", {"web": ["tests/web"]}),
        ("docs/use/alerts.md", {"docs": ["tests/test_docs.py"]}),
        ("README.md", {"docs": ["tests/test_docs.py"]}),
        ("bench/ingest.py", {}),
        ("collector/watchpost_collect/hook.py", {"collector": ["collector"]}),
        ("evaluator/tests/test_session.py", {"evaluator": ["evaluator"]}),
        ("LICENSE", {}),
    ],
)
def test_a_file_chooses_the_tests_of_its_noun(name: str, chosen: dict[str, list[str]]) -> None:
    assert choose([name], TESTS) == chosen


def test_a_folder_inside_a_noun_is_a_noun_where_it_has_tests() -> None:
    assert choose(["shared/watch/alerts/evaluation/turns.py"], TESTS) == {
        "alerts": OF_ALERTS,
        "evaluation": ["tests/shared/watch/alerts/evaluation"],
    }
    assert choose(
        ["shared/reading/sessions/sign_in/a.py", "shared/reading/sessions/rows/a.py"], TESTS
    ) == {
        "sessions": ["tests/shared/reading/sessions"],
        "sign_in": ["tests/web/sign_in"],
    }


def test_no_test_is_chosen_twice() -> None:
    chosen = [
        ["tests/shared/watch/alerts/evaluation", "tests/web/b"],
        ["tests/shared/watch/alerts"],
        [],
    ]
    assert outermost(chosen) == ["tests/shared/watch/alerts", "tests/web/b"]
    assert outermost([*chosen, EVERYTHING]) == EVERYTHING


@pytest.mark.parametrize(
    ("name", "noun"),
    [("shared/untested/models.py", "untested"), ("bin/setup", "bin"), ("setup.cfg", "setup.cfg")],
)
def test_what_has_no_tests_of_its_own_runs_everything(name: str, noun: str) -> None:
    assert choose([name], TESTS) == {noun: EVERYTHING}


def test_a_file_chooses_the_tests_of_the_files_that_import_it() -> None:
    importers = {
        "shared/foundation/core/clock.py": {
            "shared/watch/alerts/evaluation/due.py", "shared/reading/sessions/page.py",
            "shared/untested/a.py",
            "tests/shared/reading/sessions/test_totals.py", "tests/support/events.py", "web/app.py",
        },
        "shared/reading/sessions/page.py": {"shared/access/keys/service.py"},
    }  # fmt: skip
    tests = [*TESTS, "tests/shared/foundation/core/test_clock.py"]
    assert choose(
        ["shared/foundation/core/clock.py"], tests, lambda name: importers.get(name, ())
    ) == {
        "core": ["tests/shared/foundation/core"],
        "evaluation, as shared/watch/alerts/evaluation/due.py"
        " imports shared/foundation/core/clock.py": ["tests/shared/watch/alerts/evaluation"],
        "sessions, as shared/reading/sessions/page.py imports shared/foundation/core/clock.py": [
            "tests/shared/reading/sessions"
        ],
        "test_totals, as tests/shared/reading/sessions/test_totals.py"
        " imports shared/foundation/core/clock.py": [
            "tests/shared/reading/sessions/test_totals.py"
        ],
    }


def test_a_module_of_the_tests_chooses_every_test_that_leads_to_it() -> None:
    importers = {
        "tests/support/events.py": {"tests/support/days.py", "tests/web/alerts/conftest.py"},
        "tests/support/days.py": {"tests/test_docs.py", "tests/support/events.py"},
    }
    found = choose(["tests/support/events.py"], TESTS, lambda name: importers.get(name, ()))
    assert found == {"tests/support/events.py": ["tests/test_docs.py", "tests/web/alerts"]}


def test_the_imports_are_those_of_the_project() -> None:
    importers = imports_of(PROJECT)
    assert "tests/test_changed.py" in importers("tests/support/changed.py")
    assert "shared/reading/events/filters.py" in importers(
        "shared/foundation/clickhouse/filters.py"
    )
    # By way of the package that names it.
    assert "tests/test_fast.py" in importers("devstack/stack.py")
    assert importers("docs/change/ui.md") == ()


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


@pytest.mark.flow
def test_on_main_the_last_commit_differs(project: Path) -> None:
    assert changed_files(project) == ("HEAD~1", ["second"])


@pytest.mark.flow
def test_on_main_what_is_uncommitted_comes_first(project: Path) -> None:
    (project / "first").write_text("other")
    (project / "new").write_text("new")
    assert changed_files(project) == ("the last commit", ["first", "new"])


@pytest.mark.flow
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
