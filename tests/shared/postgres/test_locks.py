"""One at a time, without waiting."""

import pytest

from shared.postgres import single_flight
from shared.runtime import Runtime


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
