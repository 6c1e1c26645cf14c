"""The name of a class says which thing it is: it is the only one, and it has a noun."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from tests.support.markdown import PROJECT

# What is stored or computed, and the schema that answers with it under the same name.
WITH_SCHEMA = {
    "BillingWindow",
    "Evaluation",
    "EvaluationJob",
    "EventWarning",
    "ImportedSession",
    "LimitsToday",
    "OpenSession",
    "Receipt",
    "ScoreStats",
    "SessionTotals",
    "SignInSession",
    "SkippedSession",
    "Usage",
}
# A schema whose name is part of the document of the API, and a class of another package.
BESIDE_SCHEMA = {"Event", "Session", "Status"}
# `Meta` is the name that marshmallow looks for.
TWICE = WITH_SCHEMA | BESIDE_SCHEMA | {"Meta", "_Place"}
THREE_TIMES = {"Usage"}

IRREGULAR = {
    *("Bad", "Begun", "Bought", "Bound", "Broken", "Built", "Caught", "Chosen", "Cut", "Done"),
    *("Drawn", "Driven", "Felt", "Forgotten", "Found", "Given", "Gone", "Heard", "Held", "Hidden"),
    *("Kept", "Known", "Laid", "Led", "Left", "Lost", "Made", "Meant", "Met", "Paid", "Put"),
    *("Read", "Said", "Seen", "Sent", "Shown", "Shut", "Spent", "Stuck", "Taken", "Taught"),
    *("Thought", "Thrown", "Told", "Understood", "Woken", "Written"),
}
# Names that others read: in the document of the API, in metrics and logs, in spans.
PRINTED = {
    *("Accepted", "Exported", "Imported", "Queued", "Requested"),
    *("Failed", "Forgotten", "Sent"),
    "Refused",
}
# Errors: the name of a status of HTTP, and reasons for a worker to stop.
RAISED = {"Lost", "Rejected", "Stopped", "Unauthorized"}
# Still to be renamed.
UNNAMED = {"Begun", "Expected", "Skipped", "Wanted", "_Read"}

_CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)


@cache
def class_names() -> list[str]:
    """Returns the names of all classes of the service, once for each class."""
    wings = [PROJECT / name for name in ("shared", "workers", "orgctl")]
    # The UI is built with packages that bring classes of their own.
    nouns = [path for path in (PROJECT / "web").iterdir() if path.name != "ui"]
    files = [*(PROJECT / "web").glob("*.py"), *(PROJECT / "web" / "ui").glob("*.py")]
    files += [path for folder in wings + nouns for path in folder.rglob("*.py")]
    return [name for path in files for name in _CLASS.findall(path.read_text())]


def too_often(names: Iterable[str]) -> set[str]:
    """Returns the names of more classes than may have them."""
    return {
        name
        for name, count in Counter(names).items()
        if count > 1 + (name in TWICE) + (name in THREE_TIMES)
    }


def bare_participles(names: Iterable[str]) -> set[str]:
    """Returns the names that are a participle alone, such as `Kept` or `_Settled`."""
    words = {name: name.lstrip("_") for name in names}
    return {
        name
        for name, word in words.items()
        if word in IRREGULAR or re.fullmatch(r"[A-Z][a-z]*[^e]ed", word)
    }


def test_a_name_belongs_to_one_class() -> None:
    assert too_often(class_names()) == set()


def test_few_names_may_belong_to_two_classes() -> None:
    assert len(TWICE) <= 20


def test_a_name_is_more_than_a_participle() -> None:
    assert bare_participles(class_names()) - PRINTED - RAISED - UNNAMED == set()


def test_another_class_of_a_name_is_found() -> None:
    names = _CLASS.findall("class Span:\n    class Meta(Base):\nclass Span(Base):\n")
    assert too_often(names) == {"Span"}
    assert too_often(["Evaluation"] * 2) == set()
    assert too_often(["Evaluation"] * 3) == {"Evaluation"}


def test_a_participle_is_found() -> None:
    names = ["Kept", "_Settled", "KeptRow", "Seed", "FailedLine", "Feed"]
    assert bare_participles(names) == {"Kept", "_Settled"}
