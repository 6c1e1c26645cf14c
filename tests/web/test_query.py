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
