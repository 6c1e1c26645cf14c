"""Texts that mention what is deleted: session ids and a person's identifier, as whole words."""

import json
import re
from collections.abc import Iterable
from typing import Any

from shared.reading.sessions.deleted import INSTEAD

# A shorter word occurs by chance, so it counts only where it is a whole value of JSON.
_LEAST = 6


class Mentions:
    """Finds words in texts and values, and replaces them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = set(words)
        self._long = [word for word in self._words if len(word) >= _LEAST]

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
        return text

    def replaced_in(self, value: Any) -> Any:
        """Returns a value of JSON with `[deleted]` in place of each word, in keys too."""
        if isinstance(value, str):
            return self.replaced(value)
        if isinstance(value, list):
            return [self.replaced_in(one) for one in value]
        if isinstance(value, dict):
            return {self.replaced(key): self.replaced_in(one) for key, one in value.items()}
        if isinstance(value, (int, float)) and json.dumps(value) in self._words:
            return INSTEAD
        return value


def _spellings(word: str) -> set[str]:
    """Returns the word as texts and JSON may contain it."""
    return {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}
