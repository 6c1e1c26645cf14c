"""The sentences of errors."""

import pytest

from shared.foundation.core.errors import NotFound

LONGEST = "x" * 256


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("s 1", "s 1"),
        ("", ""),
        (LONGEST, LONGEST),
        (f"{LONGEST}x", f"{LONGEST}…"),
        ("\0", "\ufffd"),
    ],
)
def test_what_is_not_found_is_named_by_what_was_asked_for(asked: str, shown: str) -> None:
    error = NotFound.named("session", asked)
    assert (error.message, error.code) == (f'there is no session "{shown}"', "not_found")
