"""The time until a queue has work again."""

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.postgres.due import AGAIN_SECS, secs_until_due

NOW = "SELECT statement_timestamp() "


def left(runtime: Runtime, moments: str) -> float | None:
    with runtime.postgres.transaction() as session:
        return secs_until_due(session, moments)


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (f"{NOW} + interval '2 minutes'", 120.0),
        (f"{NOW} + interval '2 minutes' UNION ALL {NOW} + interval '1 hour'", 120.0),
        # Work may come due between a look and this question.
        (f"{NOW} - interval '0.5 s'", 0.0),
        # Work that is due hides none that will be due earlier than the next look.
        (f"{NOW} - interval '1 hour'", AGAIN_SECS),
        (f"{NOW} - interval '1 hour' UNION ALL {NOW} + interval '0.25 s'", 0.25),
        (f"{NOW} - interval '1 hour' UNION ALL {NOW} + interval '5 s'", AGAIN_SECS),
        ("SELECT CAST(NULL AS timestamptz)", None),
        (f"{NOW} WHERE false", None),
    ],
)
def test_the_earliest_moment_counts(runtime: Runtime, moments: str, expected: float | None) -> None:
    assert left(runtime, moments) == expected
