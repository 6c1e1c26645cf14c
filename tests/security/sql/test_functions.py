"""Every function of the engine was reviewed: it is refused or harmless."""

from pathlib import Path

from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard.refusals import refused_function

# Each returns a value of its arguments, the time, or a random value. None reveals the server, the
# session or other queries, none reads from elsewhere, and none writes.
HARMLESS = frozenset(Path(__file__).with_name("functions.txt").read_text().split())


def test_an_unreviewed_function_is_reported(runtime: Runtime) -> None:
    """A newer engine has more functions.

    Each belongs among the refused ones or into functions.txt.
    """
    names = {
        name.lower() for (name,) in runtime.clickhouse.rows("SELECT name FROM system.functions")
    }
    assert {name for name in names if refused_function(name) is None} - HARMLESS == set()


def test_no_refused_function_passes_for_harmless() -> None:
    assert {name for name in HARMLESS if refused_function(name) is not None} == set()
