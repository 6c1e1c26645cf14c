"""Refusals of msgspec, said in the words of JSON."""

from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from shared.foundation.core.json_words import in_json_words


class Element(msgspec.Struct):
    scores: dict[str, float]


class Shape(msgspec.Struct):
    name: Annotated[str, Meta(min_length=1, max_length=3)] = "a"
    count: Annotated[int, Meta(ge=0, le=5)] | None = None
    elements: list[Element] = []


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("[]", "", "must be an object"),
        ('{"name": 5}', "name", "must be a string"),
        ('{"name": ""}', "name", "must not be empty"),
        ('{"name": "abcd"}', "name", "must have at most 3 characters"),
        ('{"count": 1.5}', "count", "must be a whole number or null"),
        ('{"count": -1}', "count", "must be at least 0"),
        ('{"count": 6}', "count", "must be at most 5"),
        ('{"elements": {}}', "elements", "must be an array"),
        ('{"elements": [{}]}', "elements.0.scores", "is missing"),
        ('{"elements": [{"scores": {"a": "b"}}]}', "elements.0.scores.*", "must be a number"),
    ],
)
def test_a_refusal_names_the_value_and_what_it_must_be(text: str, path: str, reason: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(text, type=Shape)
    assert in_json_words(refused.value) == (path, reason)
