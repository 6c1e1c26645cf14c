"""Sealed secrets open with their key and in their place only."""

import pytest

from shared.evaluation.evaluators.sealing import SecretBox

KEY, OTHER = "a key of the tests, long enough", "another key of these tests"


@pytest.mark.parametrize("text", ["a", "t" * 4096, "Bearer abc"])
def test_a_secret_opens_with_its_key_in_its_place(text: str) -> None:
    sealed = SecretBox(KEY).seal(text, "row/token")
    assert text.encode() not in sealed
    assert sealed != SecretBox(KEY).seal(text, "row/token")
    assert SecretBox(KEY).open(sealed, "row/token") == text
    assert SecretBox(KEY).open(sealed, "row/api_key") is None
    assert SecretBox(OTHER).open(sealed, "row/token") is None
    assert SecretBox(None).open(sealed, "row/token") is None


def test_a_changed_secret_does_not_open() -> None:
    sealed = SecretBox(KEY).seal("secret", "row/token")
    for at in range(1, len(sealed)):
        changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        assert SecretBox(KEY).open(changed, "row/token") is None


def test_without_a_key_secrets_are_kept_in_clear_and_open_later() -> None:
    stored = SecretBox(None).seal("secret", "row/token")
    assert b"secret" in stored
    assert SecretBox(None).open(stored, "row/token") == "secret"
    assert SecretBox(KEY).open(stored, "row/token") == "secret"
