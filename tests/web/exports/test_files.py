"""GET /v1/exports/files, and the settings that begin schedules."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.events import event
from tests.support.exports import Site
from tests.support.runtime import Org, make_org

Key = Callable[..., Headers]


@pytest.fixture
def site(runtime: Runtime, org: Org, tmp_path: Path) -> Site:
    """An organization with files; another one has files of the same names."""
    made = Site(runtime, org, str(tmp_path))
    for one in (Site(runtime, make_org(runtime), made.target), made):
        one.store(event("s-1", "10:00:00"), event("s-1", "11:00:00"))
        one.begin()
        one.look()
    return made


def test_files_are_listed_with_their_numbers(client: FlaskClient, site: Site, key: Key) -> None:
    answer = client.get("/v1/exports/files?limit=2", headers=key("settings:read"))
    assert answer.status_code == 200, answer.data
    found = answer.get_json()
    assert found["schedule"] | {"looked_at": None} == {
        "every": "hourly",
        "since": "2026-11-02T00:00:00.000000Z",
        "looked_at": None,
        "error": None,
    }
    assert found["schedule"]["looked_at"] is not None
    eleven, sessions = found["files"]
    name = "events/hourly/date=2026-11-02/2026-11-02T11.ndjson"
    assert eleven | {"written_at": None} == {
        "name": name,
        "rows": "events",
        "every": "hourly",
        "starts_at": "2026-11-02T11:00:00.000000Z",
        "ends_at": "2026-11-02T12:00:00.000000Z",
        "row_count": 1,
        "bytes": len(site.content(name)),
        "writes": 1,
        "written_at": None,
    }
    assert sessions["rows"] == "sessions"
    rest = client.get("/v1/exports/files?offset=2", headers=key("settings:read"))
    assert [one["starts_at"][11:13] for one in rest.get_json()["files"]] == ["10"]


def test_without_a_schedule_there_is_none_and_no_file(
    client: FlaskClient, org: Org, key: Key
) -> None:
    answer = client.get("/v1/exports/files", headers=key("settings:read"))
    assert answer.get_json() == {"schedule": None, "files": []}


def test_a_deployment_without_a_place_refuses_a_schedule(
    client: FlaskClient, org: Org, key: Key
) -> None:
    headers = key("settings:write")
    path = "/v1/settings/exports.schedule"
    answer = client.put(path, json={"value": "daily"}, headers=headers)
    assert answer.status_code == 409
    assert answer.get_json()["code"] == "no_export_target"
    assert "EXPORT_TARGET" in answer.get_json()["error"]
    assert client.put(path, json={"value": "off"}, headers=headers).status_code == 200
    answer = client.put(path, json={"value": "weekly"}, headers=headers)
    assert answer.status_code == 422
