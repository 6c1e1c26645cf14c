"""GET /events/latency_aggregate: invalid parameters are refused by name."""

import random
import string
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.web.events.conftest import at

PATH = "/v1/events/latency_aggregate"
TYPES: dict[str, object] = {"start_event_type": "a", "end_event_type": "b"}

# A query → the field that 422 names, None for a valid query.
QUERIES: list[tuple[dict[str, object], str | None]] = [
    (TYPES, None),
    ({"start_event_type": "a"}, "end_event_type"),
    ({"end_event_type": "b"}, "start_event_type"),
    ({"start_event_type": "a", "end_event_type": "a"}, "end_event_type"),
    ({"start_event_type": "tool_use", "end_event_type": "tool_use"}, "end_event_type"),
    ({**TYPES, "start_event_type": "x" * 65}, "start_event_type"),
    ({"bin_count": 168}, None),
    ({"bin_count": 169}, "bin_count"),
    ({"bin_count": 0}, "bin_count"),
    ({"bin_count": "1.5"}, "bin_count"),
    ({"outcome": "failed"}, "outcome"),
    ({"ts_from": at(1), "ts_to": at(1)}, "ts_from"),
    ({"ts_from": "2999-01-01T00:00:00Z"}, "ts_from"),
    ({"ts_from": "0001-01-01T00:00:00Z", "ts_to": "9999-12-31T23:59:59.999999Z"}, None),
    ({"ts_to": "0001-01-01T00:00:00Z"}, "ts_from"),
    ({"ts_to": "0001-01-01T00:00:01Z"}, None),
    ({"ts_to": "2025-05-05T12:00:00"}, "ts_to"),
    ({"pair_key_paths": ",".join("abcdefgh")}, None),
    ({"pair_key_paths": ",".join("abcdefghi")}, "pair_key_paths"),
    ({"pair_key_paths": "a,b,a"}, "pair_key_paths"),
    ({"pair_key_paths": "a..b"}, "pair_key_paths"),
    ({"pair_key_paths": ".a"}, "pair_key_paths"),
    ({"distribution_key_paths": "a."}, "distribution_key_paths"),
    ({"distribution_key_paths": ".".join("a" * 10)}, None),
    ({"distribution_key_paths": ".".join("a" * 11)}, "distribution_key_paths"),
    ({"distribution_key_paths": "a" * 256}, None),
    ({"distribution_key_paths": "a" * 257}, "distribution_key_paths"),
    ({"payload_contains": "a:b"}, None),
    ({"payload_contains": "a"}, "payload_contains"),
    ({"payload_contains": "a:"}, "payload_contains"),
    ({"payload_contains": ":b"}, "payload_contains"),
    ({"payload_contains": "a:" + "b" * 256}, None),
    ({"payload_contains": "a:" + "b" * 257}, "payload_contains"),
    ({"payload_contains": ",".join(f"a:{n}" for n in range(5))}, None),
    ({"payload_contains": ",".join(f"a:{n}" for n in range(6))}, "payload_contains"),
    ({"payload_sum_paths": "a:b:duration_ms"}, None),
    ({"payload_sum_paths": "a"}, "payload_sum_paths"),
    ({"payload_sum_paths": ":duration_ms"}, "payload_sum_paths"),
    ({"payload_sum_paths": "a:latency"}, "payload_sum_paths"),
    ({"payload_sum_paths": "a:input_tokens,a:output_tokens"}, "payload_sum_paths"),
    ({"payload_sum_paths": "a" * 64 + ":duration_ms"}, None),
    ({"payload_sum_paths": "a" * 65 + ":duration_ms"}, "payload_sum_paths"),
    ({"payload_sum_paths": ",".join(f"{n}:duration_ms" for n in range(11))}, "payload_sum_paths"),
    ({"errored": "perhaps"}, "errored"),
    ({"search": "x" * 257}, "search.0"),
]


def test_valid_and_invalid_values(client: FlaskClient, reader: Headers) -> None:
    for query, field in QUERIES:
        answer = client.get(PATH, query_string=query, headers=reader)
        assert answer.status_code == (200 if field is None else 422), (query, answer.get_json())
        if field is not None:
            assert answer.get_json()["fields"].keys() == {field}, query


# Parameter → a function that makes an invalid value.
HOSTILE: dict[str, Callable[[random.Random], str]] = {
    "bin_count": lambda dice: dice.choice([_text(dice), str(dice.randrange(169, 10**30)), "-1"]),
    "outcome": lambda dice: _text(dice),
    "ts_from": lambda dice: f"{dice.randrange(10_000):04}-{dice.randrange(13, 99)}-01T00:00:00Z",
    "ts_to": lambda dice: _text(dice),
    "start_event_type": lambda dice: _text(dice) * 65,
    "end_event_type": lambda dice: _text(dice),
    "pair_key_paths": lambda dice: f".{_text(dice)}",
    "distribution_key_paths": lambda dice: ",".join(_text(dice) + str(n) for n in range(9)),
    "payload_contains": lambda dice: _text(dice).replace(":", ""),
    "payload_sum_paths": lambda dice: f"{_text(dice)}:{_text(dice)}",
}


def _text(dice: random.Random) -> str:
    """Returns a text full of quotes, comments and brackets, but never just a comma."""
    signs = string.ascii_letters + "'\"`\\;:{}()[]%$-/*\x00\n é\N{GRINNING FACE}"
    return "x" + "".join(dice.choices(signs, k=dice.randint(1, 12))) + "x"


@pytest.mark.parametrize("parameter", HOSTILE)
def test_the_error_of_a_bad_value_names_its_parameter(
    client: FlaskClient, reader: Headers, parameter: str
) -> None:
    dice = random.Random(20251105)
    for _ in range(40):
        query = {parameter: HOSTILE[parameter](dice)}
        answer = client.get(PATH, query_string=query, headers=reader)
        assert answer.status_code == 422, query
        named = "start_event_type" if parameter == "end_event_type" else parameter
        assert named in answer.get_json()["fields"], query


def test_any_text_in_a_path_or_a_name_is_a_value(client: FlaskClient, reader: Headers) -> None:
    dice = random.Random(7)
    for _ in range(10):
        text = [_text(dice).replace(":", "") for _ in range(4)]
        query: dict[str, Any] = {
            "pair_key_paths": f"{text[0]}.{text[1]}",
            "distribution_key_paths": text[1],
            "payload_contains": f"{text[0]}:{text[2]}",
            "payload_sum_paths": f"{text[3]}:duration_ms",
            "start_event_type": text[0],
            "end_event_type": text[1],
        }
        answer = client.get(PATH, query_string=query, headers=reader)
        assert answer.status_code == 200, (query, answer.get_json())
        assert answer.get_json()["sums"] == {text[3]: 0}
