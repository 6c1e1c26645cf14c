"""Texts that mention what is deleted: session ids and a person's identifier, as whole words."""

import json
import re
from collections.abc import Iterable
from typing import Any

from shared.reading.sessions.deleted import INSTEAD

# A shorter word occurs by chance, so it counts only where it is a whole value of JSON.
_LEAST = 6


class Mentions:
    """Finds words in texts and values, and replaces them.

    `user` is one of the words, a user of events. The names of others may contain it, as
    `zoe@example.org` does `zoe`. A short one counts in a text where titles name it: `user zoe`. A
    number is a user only as the value of `user_id`.
    """

    def __init__(self, words: Iterable[str], *, user: str | None = None) -> None:
        self._words = set(words)
        self._user = user
        self._others = self._words - {user}
        self._long = [word for word in self._others if len(word) >= _LEAST]

    @property
    def spellings(self) -> list[str]:
        """Returns the words as texts and JSON may contain them, for a first look by SQL."""
        return sorted({spelling for word in self._words for spelling in _spellings(word)})

    def in_text(self, text: str) -> bool:
        """Returns whether a text mentions a word, plain or as JSON escapes it."""
        return self.replaced(text) != text

    def replaced(self, text: str) -> str:
        """Returns the text with `[deleted]` in place of each word."""
        if text in self._words:
            return INSTEAD
        for word in self._long:
            for spelling in _spellings(word):
                if spelling in text:
                    text = re.sub(rf"(?<![\w-]){re.escape(spelling)}(?![\w-])", INSTEAD, text)
        return text if self._user is None else _without_user(text, self._user)

    def replaced_in(self, value: Any) -> Any:
        """Returns a value of JSON with `[deleted]` in place of each word, in keys too."""
        if isinstance(value, str):
            return self.replaced(value)
        if isinstance(value, list):
            return [self.replaced_in(one) for one in value]
        if isinstance(value, dict):
            return {self.replaced(key): self._replaced_at(key, one) for key, one in value.items()}
        if isinstance(value, (int, float)) and json.dumps(value) in self._others:
            return INSTEAD
        return value

    def _replaced_at(self, key: str, value: Any) -> Any:
        if key == "user_id" and type(value) is int and str(value) == self._user:
            return INSTEAD
        return self.replaced_in(value)


def _without_user(text: str, user: str) -> str:
    before = r"(?<![\w@.+-])" if len(user) >= _LEAST else r"(?<=\b[Uu]ser )"
    for spelling in _spellings(user):
        if spelling in text:
            whole = rf"{before}{re.escape(spelling)}(?![\w@+-]|\.\w)"
            text = re.sub(whole, INSTEAD, text)
    return text


def _spellings(word: str) -> set[str]:
    """Returns the word as texts and JSON may contain it."""
    return {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}
