"""Random events: a planted secret is gone, and everything else is unchanged."""

import json
import random
from typing import Any

import pytest

from shared.intake.ingest.decode import decode_events
from shared.intake.redaction.rules import Redactor

SECRET = "h\u00fcsh-7f3a"
# Plain names, one that is not ASCII, and one that JSON can spell in two ways.
LISTS = [["password", "Api-Key"], ["token", "пароль"], ["a/b", "password"]]
OTHERS = [
    "a",
    "passwords",
    "tok",
    "",
    "ключ",
    'q"',
    "\\",
    "key",
    "\u0000",
    "\ud83d",
    "x y",
    ":",
    ",",
]
LEAVES: list[Any] = [
    0, -1, 1.5, True, None, "", "password", '"password":', "{", '{"a": "b"}', "é\n", "🗝", "\\u0070",
    [], {}, "C:\\temp\\", "\ud800",
]  # fmt: skip


class Maker:
    """Makes random documents, each with the expected result."""

    def __init__(self, seed: int, listed: list[str]) -> None:
        self.random = random.Random(seed)
        self.listed = listed
        self.escaping = 0.0

    def value(self, depth: int) -> tuple[Any, Any]:
        roll = self.random.random()
        if depth <= 0 or roll < 0.3:
            leaf = self.random.choice(LEAVES)
            return leaf, leaf
        if roll < 0.5:
            pairs = [self.value(depth - 1) for _ in range(self.random.randrange(4))]
            return [one for one, _ in pairs], [other for _, other in pairs]
        if roll < 0.65:
            sent, left = self.object(depth - 1)
            return self.spell(sent), Text(left)
        return self.object(depth - 1)

    def object(self, depth: int) -> tuple[Any, Any]:
        sent, left = Pairs(), {}
        for _ in range(self.random.randrange(1, 5)):
            key = self.random.choice(self.listed * 3 + OTHERS)
            if key in self.listed:
                holds = self.random.choice([SECRET, [SECRET], {"a": {"b": SECRET}}])
                sent.append((self.cased(key), holds))
                left[sent[-1][0]] = "[redacted]"
            elif key not in left:
                one, other = self.value(depth)
                sent.append((key, one))
                left[key] = other
        return sent, left

    def cased(self, key: str) -> str:
        return "".join(self.random.choice([c.lower(), c.upper()]) for c in key)

    def spell(self, value: Any) -> str:
        """Returns JSON of a value with random escapes and spaces."""
        if isinstance(value, Pairs):
            inner = ",".join(
                f"{self.space()}{self.text(key)}{self.space()}:{self.space()}{self.spell(one)}"
                for key, one in value
            )
            return "{" + inner + self.space() + "}"
        if isinstance(value, dict):
            return self.spell(Pairs(value.items()))
        if isinstance(value, list):
            return "[" + ",".join(map(self.spell, value)) + self.space() + "]"
        if isinstance(value, str):
            return self.text(value)
        return json.dumps(value)

    def text(self, value: str) -> str:
        return '"' + "".join(map(self.character, value)) + '"'

    def character(self, character: str) -> str:
        must = ord(character) < 32 or character in '"\\' or "\ud800" <= character <= "\udfff"
        if must or self.random.random() < self.escaping:
            if character in '"\\/' and self.random.random() < 0.7:
                return "\\" + character
            units = character.encode("utf-16-be", "surrogatepass").hex()
            return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        return character

    def space(self) -> str:
        return self.random.choice(["", "", " ", "\t"])


class Pairs(list[Any]):
    """An object with its keys in order, some of them twice."""


class Text:
    """A string with this JSON text, whatever its spelling."""

    def __init__(self, says: Any) -> None:
        self.says = says

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(json.loads(other) == self.says)


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_random_event(seed: int, listed: list[str]) -> None:
    maker, redact = Maker(seed, listed), Redactor(listed).redact
    planted = 0
    for number in range(250):
        maker.escaping = number % 3 * 0.05
        sent, left = maker.object(depth=number % 7)
        line = (
            '{"session_id":"s","timestamp":"2026-01-01T00:00:00Z","type":"t","data":'
            f"{maker.spell(sent)}}}"
        ).encode()
        decoded = decode_events([line], "org", 1 << 20, redact)
        assert decoded.errors == []
        [payload] = decoded.batch.payloads
        planted += line != payload
        assert b"sh-7f3a" not in payload, line
        assert json.loads(payload)["data"] == left, line
    assert planted > 100
