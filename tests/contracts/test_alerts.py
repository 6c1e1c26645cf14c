"""Alert rules."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from tests.support.alerts import SPECS, make_alert
from tests.support.app import Headers
from tests.support.document import Document

Key = Callable[..., Headers]

PATH, ONE = "/v1/alerts", "/v1/alerts/{alert_id}"


@pytest.mark.parametrize("kind", SPECS)
def test_every_answer_about_alerts_is_what_the_document_says(
    client: FlaskClient, document: Document, key: Key, kind: str
) -> None:
    headers = key()
    row = document.require(make_alert(client, headers, trigger_kind=kind), "POST", PATH)
    listed = document.require(client.get(PATH, headers=headers), "GET", PATH)
    assert listed == [row]
    path = f"{PATH}/{row['id']}"
    assert document.require(client.get(path, headers=headers), "GET", ONE) == row
    body = {name: row[name] for name in ("name", "trigger_kind", "trigger_spec")}
    for severity, status in (("critical", 200), ("mild", 422)):
        answer = client.put(path, json={**body, "severity": severity}, headers=headers)
        assert answer.status_code == status
        document.require(answer, "PUT", ONE)
    test = client.post(f"{path}/test", json={"channels": [{"kind": "dashboard"}]}, headers=headers)
    told = document.require(test, "POST", f"{ONE}/test")
    assert told["ok"] is True
    assert told["deliveries"] == [
        {"channel": "dashboard", "target": "dashboard", "status": "sent", "error": None}
    ]
    gone = client.delete(path, headers=headers)
    assert (gone.status_code, gone.get_data()) == (204, b"")
    document.require(client.delete(path, headers=headers), "DELETE", ONE)


def test_operators_by_sign_and_by_name(client: FlaskClient, key: Key) -> None:
    headers = key()
    for op in (">", ">=", "<", "<=", "==", "gt", "gte", "lt", "lte", "eq"):
        spec = {**SPECS["metric_threshold"], "op": op}
        answer = make_alert(client, headers, trigger_spec=spec)
        assert (answer.status_code, answer.get_json()["trigger_spec"]) == (201, spec)


def test_recipients(client: FlaskClient, document: Document, key: Key) -> None:
    answer = client.get(f"{PATH}/recipients", headers=key("alerts:read"))
    assert document.require(answer, "GET", f"{PATH}/recipients") == []
