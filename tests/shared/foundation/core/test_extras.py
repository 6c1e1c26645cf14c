"""Libraries that are imported without the optional packages that they look for."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.foundation.core.extras import import_without
from tests.support.markdown import PROJECT

LIBRARY = """
try:
    import made_up_extra
except ImportError:
    made_up_extra = None
"""

# Each line imports what one process type runs, and prints those of the named modules that it has.
# The clock comes first: it needs no client of PostgreSQL's tables or of ClickHouse.
IMPORTED = """
import sys
def loaded(*names):
    print(*[name for name in names if name in sys.modules], sep=",")
import devstack.up.__main__; loaded("rich", "sqlalchemy", "clickhouse_driver")
import workers.clock; loaded("rich", "opentelemetry", "sqlalchemy", "clickhouse_driver")
import workers.supervisor, web.app, web.otlp.grpc.__main__, shared.upkeep.release
loaded("rich", "opentelemetry", "better_exceptions")
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "made_up_library.py").write_text(LIBRARY)
    (tmp_path / "made_up_extra.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield "made_up_library"
    for name in ("made_up_library", "made_up_extra"):
        sys.modules.pop(name, None)


def test_an_extra_is_hidden_for_one_import_only(library: str) -> None:
    assert import_without(library, ["made_up_extra"]).made_up_extra is None
    assert "made_up_extra" not in sys.modules
    del sys.modules[library]
    assert import_without(library, []).made_up_extra is not None


def test_an_extra_that_was_imported_before_stays(library: str) -> None:
    extra = import_without("made_up_extra", [])
    assert import_without(library, ["made_up_extra"]).made_up_extra is extra
    assert sys.modules["made_up_extra"] is extra


@pytest.mark.flow
def test_no_process_imports_what_it_does_not_use() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["", "", ""]
