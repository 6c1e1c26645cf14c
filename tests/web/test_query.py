"""Queries before a schema reads them."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from tests.support.app import Headers


@pytest.mark.parametrize(
    "path",
    [
        "/v1/events?cursor=&limit=&ts_from=&search=&session_id=&errored=&order=",
        "/v1/sessions?cursor=&limit=&status=&score_filters=",
        "/v1/evaluations?cursor=&latest_per_session=&ts_to=",
        "/v1/evaluation-jobs?status=&limit=",
    ],
)
def test_a_parameter_without_a_value_is_as_good_as_absent(
    client: FlaskClient, key: Callable[..., Headers], path: str
) -> None:
    assert client.get(path, headers=key()).status_code == 200


@pytest.mark.parametrize("path", ["/events", "/events/summary", "/sessions", "/evaluations"])
def test_parameters_at_their_edges(
    client: FlaskClient, key: Callable[..., Headers], path: str
) -> None:
    headers = key()
    queries: list[tuple[dict[str, str], int]] = [
        ({"ts_from": "0001-01-01T00:00:00Z"}, 200),
        ({"ts_from": "9999-12-31T23:59:59.999999Z"}, 200),
        ({"ts_to": "9999-12-31T23:59:59.999999+00:00"}, 200),
        ({"ts_from": "2026-11-02T00:00:00Z", "ts_to": "2026-11-01T00:00:00Z"}, 200),
        ({"session_id": "\x00,'\\\\\n%{}\U0001f600"}, 200),
        ({"cursor": "bm9uc2Vuc2U"}, 422),
        ({"unknown": "parameter"}, 200),
    ]
    for query, status in queries:
        answer = client.get(f"/v1{path}", query_string=query, headers=headers)
        assert answer.status_code == status, query
        assert status == 200 or answer.get_json()["fields"].keys() == query.keys()
