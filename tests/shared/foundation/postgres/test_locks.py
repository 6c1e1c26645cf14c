"""Advisory locks: one holder at a time, without waiting."""

import re
from pathlib import Path

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres import single_flight

PROJECT = Path(__file__).resolve().parents[4]


def test_a_second_of_the_same_name_is_turned_away(runtime: Runtime) -> None:
    with single_flight(runtime.postgres, "one") as first:
        with single_flight(runtime.postgres, "one") as second:
            assert (first, second) == (True, False)
        with single_flight(runtime.postgres, "two") as other:
            assert other
    with single_flight(runtime.postgres, "one") as again:
        assert again


def test_a_failure_frees_the_name(runtime: Runtime) -> None:
    with pytest.raises(ZeroDivisionError), single_flight(runtime.postgres, "one"):
        _ = 1 / 0
    with single_flight(runtime.postgres, "one") as again:
        assert again


def test_every_purpose_has_a_lock_of_its_own() -> None:
    """Two purposes with the same number would wait for each other by accident."""
    sources = [path for tier in ("shared", "workers") for path in (PROJECT / tier).rglob("*.py")]
    numbers = [n for path in sources for n in re.findall(r"LOCK_ID = ([\d_]+)", path.read_text())]
    assert len(numbers) >= 3
    assert len(set(numbers)) == len(numbers)
