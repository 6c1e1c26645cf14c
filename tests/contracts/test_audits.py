"""Audits, their runs and their context have the documented shapes."""

from collections.abc import Callable

from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.audits import PATH, AuditBench, finding, make_audit
from tests.support.document import Document
from tests.support.runtime import Org

Key = Callable[..., Headers]

ONE = f"{PATH}/{{audit_id}}"


def test_every_answer_about_audits_is_what_the_document_says(
    client: FlaskClient, runtime: Runtime, org: Org, document: Document, key: Key
) -> None:
    headers, bench = key(), AuditBench(runtime, org)
    row = document.require(make_audit(client, headers), "POST", PATH)
    for name, status in (("n" * 200, 201), ("n" * 201, 422), ("", 422)):
        answer = make_audit(client, headers, name=name, enabled=False, description="d")
        assert answer.status_code == status
        document.require(answer, "POST", PATH)
    path = f"{PATH}/{row['id']}"
    queued = client.post(f"{path}/run", headers=headers)
    assert document.require(queued, "POST", f"{ONE}/run")["queued"] is True
    bench.run({"test": finding("a")})
    [run] = document.require(client.get(f"{path}/runs", headers=headers), "GET", f"{ONE}/runs")
    assert run["id"] == queued.get_json()["run_id"]
    wanted = {"text": "t", "urls": ["https://a.test/"]}
    put = client.put(f"{path}/context", json=wanted, headers=headers)
    assert document.require(put, "PUT", f"{ONE}/context") == wanted
    got = client.get(f"{path}/context", headers=headers)
    assert document.require(got, "GET", f"{ONE}/context") == wanted
    assert len(document.require(client.get(PATH, headers=headers), "GET", PATH)) == 2
    assert document.require(client.get(path, headers=headers), "GET", ONE)["open_findings"] == 1
    disabled = client.put(path, json={"name": "n", "enabled": False}, headers=headers)
    assert document.require(disabled, "PUT", ONE)["enabled"] is False
    refused = client.post(f"{path}/run", headers=headers)
    assert document.require(refused, "POST", f"{ONE}/run")["code"] == "audit_disabled"
    assert client.delete(path, headers=headers).status_code == 204
    assert document.require(client.delete(path, headers=headers), "DELETE", ONE)["code"] == (
        "not_found"
    )
