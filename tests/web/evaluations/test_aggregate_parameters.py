"""Invalid parameters of GET /v1/evaluations/aggregate, and the fields that their errors name."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers

Key = Callable[..., Headers]

# Invalid values by parameter, with a text that the error has to contain, if any.
BAD: list[tuple[str, str, str]] = [
    ("status", "none", "done, error, timeout"),
    ("status", "done,Done", "done, error, timeout"),
    ("score_filters", "k:1", "k:1"),
    ("score_filters", "k:0..1,k:2..1", "wrong way round"),
    ("ts_from", "2026-11-02", "zone"),
    ("ts_from", "yesterday", "zone"),
    ("ts_to", "2026-11-02T00:00:00", "zone"),
    ("ts_to", "1793520000", "zone"),
    ("latest_per_session", "perhaps", "boolean"),
    ("featured_keys", "a,b,c,d,e,f,g", "at most 6"),
    ("bucket", "month", "minute"),
    ("bucket", "HOUR", "minute"),
    ("bucket", "3600", "minute"),
    ("series", "success", "JSON array"),
    ("series", '["*","*","k","avg"]', "element 0"),
    ("series", '[["*","*","k","avg"],["*","*","k","mean"]]', "element 1"),
    ("series", json.dumps([["*", "*", "k", "avg"]] * 30 + [0]), "element 30"),
]


@pytest.mark.parametrize(("parameter", "value", "reason"), BAD)
def test_a_malformed_parameter_is_named(
    client: FlaskClient, key: Key, parameter: str, value: str, reason: str
) -> None:
    answer = client.get(
        "/v1/evaluations/aggregate",
        query_string={parameter: value},
        headers=key("evaluations:read"),
    )
    assert answer.status_code == 422
    [(name, [told])] = answer.get_json()["fields"].items()
    assert name == parameter
    assert reason in told


def odd_text(draw: random.Random) -> str:
    """Returns some characters. None has a meaning to any parameter."""
    return "".join(
        draw.choices("xyzXYZ_-+;|~\u00e9\u4e2d\u0301 %'\"\\{}<>&?#\x01", k=draw.randrange(1, 30))
    )


def odd_series(draw: random.Random) -> str:
    good: list[Any] = ["*", "*", "k", "avg"]
    bad = good[:]
    bad[draw.randrange(4)] = draw.choice([None, 0, 1.5, True, [], {}, ["*"]])
    items: list[Any] = [good] * draw.randrange(3)
    items.insert(draw.randrange(len(items) + 1), draw.choice([bad, good[:-1], odd_text(draw)]))
    return json.dumps(items)


ODD: dict[str, Callable[[random.Random], str]] = {
    "status": odd_text,
    "score_filters": odd_text,
    "ts_from": odd_text,
    "ts_to": odd_text,
    "latest_per_session": odd_text,
    "featured_keys": lambda draw: ",".join(odd_text(draw).rstrip("\\") + "x" for _ in range(9)),
    "bucket": odd_text,
    "series": lambda draw: draw.choice([odd_text, odd_series])(draw),
}


@pytest.mark.parametrize("parameter", ODD)
def test_odd_values_are_refused_by_name(client: FlaskClient, key: Key, parameter: str) -> None:
    draw, headers = random.Random(parameter), key("evaluations:read")
    for value in [ODD[parameter](draw) for _ in range(25)]:
        answer = client.get(
            "/v1/evaluations/aggregate", query_string={parameter: value}, headers=headers
        )
        assert answer.status_code == 422, value
        assert list(answer.get_json()["fields"]) == [parameter], value


def test_aggregates_need_their_permission(client: FlaskClient, key: Key) -> None:
    answer = client.get("/v1/evaluations/aggregate", headers=key("events:read"))
    assert answer.status_code == 403
    assert answer.get_json()["required_permission"] == "evaluations:read"
