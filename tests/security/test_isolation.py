"""No byte of another organization: every route, every id, every filter.

The OpenAPI document supplies all attempts, so a new route is covered automatically. Where a value
cannot be guessed, the field of the schema has an example.
"""

from collections.abc import Callable
from typing import Any

from werkzeug.test import TestResponse

from tests.security.bodies import Maker, body_of
from tests.security.world import Operation, World, rows_of


def noting(world: World, ids: list[str]) -> Callable[[str], str | None]:
    """Returns references to the world's rows that also add the ids to a list."""

    def refer(path: str) -> str | None:
        found = world.id_from(path)
        ids.extend([] if found is None else [found])
        return found

    return refer


def require_unmarked(answer: TestResponse, theirs: World, sent: str) -> None:
    """Fails if an answer contains more of the other organization than the caller sent itself."""
    said = answer.get_data(as_text=True)
    for text in (sent, sent.replace("/", "%2F")):
        said = said.replace(text, "") if text else said
    assert theirs.mark not in said
    assert theirs.org.id not in said
    assert theirs.org.slug not in said


def test_every_kind_of_resource_is_there(theirs: World, guarded: list[Operation]) -> None:
    """Otherwise the tests below would prove nothing: all resources are created and listed."""
    assert ("POST", "/v1/keys") in theirs.made
    for method, template in theirs.made:
        if method == "POST" and "get" in theirs.document.body["paths"][template]:
            [path, *_] = theirs.paths(template)
            assert theirs.mark in theirs.call("GET", path).get_data(as_text=True), template


def test_foreign_ids_are_not_found(ours: World, theirs: World, guarded: list[Operation]) -> None:
    before = theirs.snapshot()
    tried = 0
    for method, template, operation in guarded:
        if "{" not in template:
            continue
        for path in theirs.own_paths(template):
            answer = ours.call(method, path, body=ours.body(operation))
            assert answer.status_code == 404, f"{method} {path}: {answer.get_data(as_text=True)}"
            require_unmarked(answer, theirs, "")
            tried += 1
    assert tried > 5
    assert theirs.snapshot() == before


def test_foreign_ids_in_bodies_are_refused(
    ours: World, theirs: World, guarded: list[Operation]
) -> None:
    tried = []
    for method, template, operation in guarded:
        foreign: list[str] = []
        body = body_of(Maker(ours.document, ours.mark, noting(theirs, foreign)), operation)
        for path in list(ours.paths(template))[:1] if foreign else []:
            own = ours.snapshot()
            answer = ours.call(method, path, body=body)
            assert answer.status_code in (404, 422), f"{method} {path}: {answer.get_json()}"
            require_unmarked(answer, theirs, "")
            assert ours.snapshot() == own
            tried.append(template)
    assert "/v1/dashboards/{dashboard_id}/tiles" in tried


def test_foreign_values_filter_to_nothing(
    ours: World, theirs: World, guarded: list[Operation]
) -> None:
    values = theirs.values()
    tried = 0
    for method, template, operation in guarded:
        named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        for name in named:
            for value in sorted(values.get(name, set()))[:3] or [theirs.mark]:
                if method != "GET":
                    continue
                for path in list(ours.paths(template))[:1]:
                    answer = ours.call(method, path, query={name: value})
                    require_unmarked(answer, theirs, value)
                    if answer.status_code == 200 and name in values:
                        assert rows_of(answer.get_json()) == [], f"{template}?{name}={value}"
                        tried += 1
    assert tried > 10


def test_nothing_that_one_does_shows_in_the_other(
    new_world: Callable[[], World], theirs: World, guarded: list[Operation]
) -> None:
    """Every operation, with the other organization's values in every query parameter."""
    ours = new_world()
    before = theirs.snapshot()
    values = theirs.values()
    for method, template, operation in guarded:
        for path in list(ours.paths(template))[:1]:
            for query in foreign_queries(method, operation, values) or [{}]:
                answer = ours.call(method, path, body=ours.body(operation), query=query)
                said = answer.get_data(as_text=True)
                for value in query.values():
                    said = said.replace(value, "")
                assert theirs.mark not in said, f"{method} {path}"
    after = theirs.snapshot()
    assert after == before
    assert not [path for path, body in after.items() if ours.mark.encode() in body]


def foreign_queries(
    method: str, operation: dict[str, Any], values: dict[str, set[str]]
) -> list[dict[str, str]]:
    """Yields queries with another organization's values: all at once for reads.

    Writes, such as a delete, get each value alone: one of them names a thing of the other
    organization.
    """
    named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
    every = sorted(set().union(*values.values()))
    if method == "GET":
        return [{name: min(values.get(name, every)) for name in named}] if named else []
    return [{name: value} for name in named for value in every]
