"""The content of versions: bounds, and a checksum that anybody can compute."""

import hashlib
from typing import Any

import pytest

from shared.evaluation.evaluators.versions import NewVersion, parse_version
from shared.foundation.core.errors import Invalid
from tests.shared.evaluation.evaluators.test_specs import SETTINGS
from tests.support.own_evaluators import URL, VERSIONS


def parsed(kind: str = "push", **fields: Any) -> NewVersion:
    return parse_version(kind, {**VERSIONS[kind], **fields}, SETTINGS)


def test_the_checksum_is_that_of_sorted_json_without_blanks() -> None:
    results = [{"key": "köln", "kind": "number", "max": 5.0, "unit": None}]
    made = parsed(results=results, note="not a part", version="1")
    expected = (
        '{"condition":null,"kind":"push","large":"cut","results":[{"key":"köln","kind":"number",'
        f'"max":5}}],"spec":{{"headers":{{}},"url":"{URL}"}}}}'
    )
    assert made.content.canonical().decode() == expected
    assert made.content.checksum() == hashlib.sha256(expected.encode()).hexdigest()


def test_the_checksum_depends_on_the_content_alone() -> None:
    condition = {"field": "event_count", "op": ">", "value": 10.0}
    same = [
        parsed(condition=condition),
        parsed(condition={**condition, "value": 10}, note="other", version="x", activate=False),
        parsed(condition=dict(reversed(condition.items())), large="cut"),
    ]
    assert len({one.content.checksum() for one in same}) == 1
    others = [
        parsed(),
        parsed(condition={**condition, "value": 11}),
        parsed(large="error"),
        parsed(spec={"url": f"{URL}/"}),
        parsed("pull"),
    ]
    assert len({one.content.checksum() for one in [*same, *others]}) == 6


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"version": ""}, "version"),
        ({"version": "v" * 129}, "version"),
        ({"version": "ö" * 65}, "version"),
        ({"version": "a\tb"}, "version"),
        ({"version": 3}, "version"),
        ({"note": "n" * 2001}, "note"),
        ({"note": 5}, "note"),
        ({"spec": None}, "spec"),
        ({"spec": {}}, "spec.url"),
        ({"condition": []}, "condition"),
        ({"condition": {"all": []}}, "condition.all"),
        ({"results": {}}, "results"),
        ({"results": [{}]}, "results.0.kind"),
        ({"large": "pieces"}, "large"),
        ({"large": 1}, "large"),
        ({"activate": "yes"}, "activate"),
    ],
)
def test_a_bad_version_names_its_field(fields: dict[str, Any], name: str) -> None:
    for path in ("", "version."):
        with pytest.raises(Invalid) as refused:
            parse_version("push", {**VERSIONS["push"], **fields}, SETTINGS, path)
        assert list(refused.value.fields) == [f"{path}{name}"]


def test_a_definition_has_at_most_64_kib() -> None:
    headers = {f"x-{n}": "v" * 4096 for n in range(16)}
    with pytest.raises(Invalid, match="64 KiB"):
        parsed(spec={"url": URL, "headers": headers})
    del headers["x-15"]
    assert len(parsed(spec={"url": URL, "headers": headers}).content.canonical()) < 65_536


@pytest.mark.parametrize("version", ["v", "ö" * 64, "2026-11-27 / a", "v.1+build"])
def test_names_of_versions(version: str) -> None:
    assert parsed(version=version).name == version
