"""The order of the files of a whole run, and the recording that it follows."""

from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.scheduling import Recording, longest_first, recorded, unit_of


class Test:
    """As much of a test as the order depends on."""

    __test__ = False

    def __init__(self, nodeid: str, *, is_flow: bool = False) -> None:
        self.nodeid = nodeid
        self._is_flow = is_flow

    def get_closest_marker(self, name: str) -> object:
        return name if self._is_flow else None


def ordered(tests: list[Test], processes: int, seconds: dict[str, float]) -> list[str]:
    longest_first(tests, processes, seconds)  # type: ignore[arg-type] # see Test
    return [test.nodeid for test in tests]


def test_the_longest_file_begins_and_stays_together() -> None:
    seconds = {"tests/a.py": 1.0, "tests/b.py": 9.0}
    tests = [Test("tests/a.py::one"), Test("tests/b.py::one"), Test("tests/b.py::two")]
    found = ordered(tests, 4, seconds)
    assert found == ["tests/b.py::one", "tests/b.py::two", "tests/a.py::one"]


@pytest.mark.parametrize(
    ("processes", "first"), [(3, "tests/flows/a.py::one"), (5, "tests/b.py::one")]
)
def test_folders_count_as_a_whole_where_one_process_runs_them(processes: int, first: str) -> None:
    seconds = {"tests/b.py": 9.0, "tests/flows/a.py": 5.0, "tests/flows/b.py": 5.0}
    tests = [Test(f"{file}::one") for file in seconds]
    assert ordered(tests, processes, seconds)[0] == first


def test_two_of_four_processes_share_the_flows_evenly() -> None:
    flows = {file: secs for file, secs in recorded().items() if file.startswith("tests/flows/")}
    taken: dict[str, float] = defaultdict(float)
    for file, secs in flows.items():
        taken[unit_of(f"{file}::one", 4)] += secs
    assert len(taken) == 2
    assert max(taken.values()) - min(taken.values()) < sum(flows.values()) / 10


def test_an_unknown_file_begins_if_it_starts_something() -> None:
    tests = [Test("tests/new.py::one"), Test("tests/a.py::one"), Test("b.py::one", is_flow=True)]
    found = ordered(tests, 4, {"tests/a.py": 1.0})
    assert found == ["b.py::one", "tests/a.py::one", "tests/new.py::one"]


def report(nodeid: str, seconds: float) -> pytest.TestReport:
    return pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, "call", duration=seconds)


def test_a_run_that_passes_is_recorded_by_file(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    recording = Recording(path)
    for nodeid in ("tests/b.py::one", "tests/a.py::one[x]", "tests/b.py::two"):
        recording.pytest_runtest_logreport(report(nodeid, 1.04))
    recording.pytest_sessionfinish(pytest.ExitCode.TESTS_FAILED)
    assert not path.exists()
    recording.pytest_sessionfinish(pytest.ExitCode.OK)
    assert path.read_text() == '{\n "tests/a.py": 1.0,\n "tests/b.py": 2.1\n}\n'
