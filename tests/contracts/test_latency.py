"""latency_aggregate and error_summary answer in exactly these shapes."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.document import Document
from tests.web.events.conftest import at, result, use

Store = Callable[[Sequence[object]], None]


def test_answers_are_what_the_document_says(
    store: Store, client: FlaskClient, reader: Headers, document: Document
) -> None:
    store([use(1, "a"), result(2, "a", error="no"), use(3, "b"), result(5, "b", duration_ms=1)])
    hour = {"ts_from": at(0), "ts_to": at(3600)}
    for path in ("/v1/events/latency_aggregate", "/v1/events/error_summary"):
        for query in (hour, {"session_id": "nobody"}):
            answer = client.get(path, query_string=query, headers=reader)
            document.require(answer, "GET", path)


def test_the_shape_of_the_heatmap(
    store: Store, client: FlaskClient, reader: Headers, document: Document
) -> None:
    """12 bands lie between 13 edges, with about the same ratio between all neighbours."""
    store([use(1, "a"), result(2, "a")])
    query = {"ts_from": at(0), "ts_to": at(3600), "bin_count": 5}
    path = "/v1/events/latency_aggregate"
    heatmap = client.get(path, query_string=query, headers=reader).get_json()["heatmap"]
    edges = heatmap["edges_ms"]
    assert [len(bands) for bands in heatmap["counts"]] == [12] * 5
    assert len(edges) == 13
    assert all(3 <= high / low < 3.4 for low, high in pairwise(edges))
