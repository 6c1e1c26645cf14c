"""Results that many records share are made once, and hostile names fill no memory."""

from collections.abc import Sequence

from shared.intake.otlp.mapping import memory
from shared.intake.otlp.mapping.memory import ByNames, for_last_resource
from shared.intake.otlp.records import Resource


class Made:
    """Notes the names that something was made of."""

    def __init__(self) -> None:
        self.names: list[Sequence[str]] = []

    def __call__(self, names: Sequence[str]) -> int:
        self.names.append(names)
        return len(names)


def test_the_same_names_are_looked_at_once() -> None:
    made = Made()
    lengths = ByNames(made)
    assert [lengths.of({"a": 1, "b": 2}), lengths.of({"a": 3, "b": 4}), lengths.of({})] == [2, 2, 0]
    assert made.names == [("a", "b"), ()]


def test_names_in_another_order_are_others() -> None:
    joined = ByNames("".join)
    assert [joined.of(["a", "b"]), joined.of(["b", "a"])] == ["ab", "ba"]


def test_long_names_are_not_remembered() -> None:
    made = Made()
    lengths = ByNames(made)
    for _ in range(2):
        assert lengths.of(["n" * memory.MAX_CHARS]) == 1
        assert lengths.of(["n" * memory.MAX_CHARS, "n"]) == 2
    assert [len(names) for names in made.names] == [1, 2, 2]


def test_a_full_memory_begins_with_nothing() -> None:
    made = Made()
    lengths = ByNames(made)
    for number in range(memory.MAX_REMEMBERED + 1):
        lengths.of([str(number)])
    lengths.of([str(memory.MAX_REMEMBERED)])
    assert len(made.names) == memory.MAX_REMEMBERED + 1
    lengths.of(["0"])
    assert len(made.names) == memory.MAX_REMEMBERED + 2


def test_the_last_resource_is_looked_at_once_and_equal_ones_are_others() -> None:
    seen: list[Resource] = []

    @for_last_resource
    def name(resource: Resource) -> object:
        seen.append(resource)
        return resource.attributes.get("name")

    first, second = Resource({"name": "a"}), Resource({})
    assert [name(first), name(first), name(second), name(second), name(first)] == [
        *("a", "a", None, None, "a")
    ]
    assert [one is first for one in seen] == [True, False, True]
