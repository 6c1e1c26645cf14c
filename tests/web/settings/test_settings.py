"""Settings over HTTP: the author of a change, secrets, and protection from locking oneself out."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from devstack.ports import free_port
from shared.access.permissions import BUILTIN_SETS, READ_ONLY_SET, effective
from shared.access.permissions.custom_sets.models import PermissionSet
from shared.access.settings.catalogue import CATALOGUE
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers, new_key
from tests.support.notifications import SLACK, WEBHOOK, Desk
from tests.support.people import acting_as, add_member, new_email
from tests.support.runtime import Org, connected, make_org
from web.app import create_app

Key = Callable[..., Headers]

SECRET = "alerts.webhook_signing_secret"


def put(client: FlaskClient, headers: Headers, key: str, value: object) -> TestResponse:
    return client.put(f"/v1/settings/{key}", json={"value": value}, headers=headers, buffered=True)


def row(client: FlaskClient, headers: Headers, key: str) -> dict[str, Any]:
    rows = client.get("/v1/settings", headers=headers).get_json()["settings"]
    [found] = [one for one in rows if one["key"] == key]
    return dict(found)


def test_a_fresh_organization_has_the_defaults(client: FlaskClient, key: Key) -> None:
    rows = client.get("/v1/settings", headers=key("settings:read")).get_json()["settings"]
    assert [one["key"] for one in rows] == list(CATALOGUE)
    for one in rows:
        assert one["value"] == one["schema"]["default"] == CATALOGUE[one["key"]].default
        assert (one["value_set"], one["updated_at"], one["updated_by"]) == (False, None, None)


def test_a_change_is_attributed_and_read_back(client: FlaskClient, key: Key) -> None:
    headers = key("settings:read", "settings:write", "keys:read")
    changed = put(client, headers, "session_ttl_secs", 3600).get_json()
    assert changed == row(client, headers, "session_ttl_secs")
    assert (changed["value"], changed["value_set"]) == (3600, True)
    [me] = client.get("/v1/keys", headers=headers).get_json()
    assert changed["updated_by"] == me["name"]
    again = put(client, headers, "session_ttl_secs", 86_400).get_json()
    assert again["updated_at"] > changed["updated_at"]
    assert again["value_set"], "a value that happens to be the default was set all the same"


def test_readers_see_no_path_of_a_webhook(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    desk, path = Desk(runtime, org), "geheim"
    for name, channel in (("slack_default_webhook", SLACK), ("webhook_default_url", WEBHOOK)):
        desk.set(name, f"https://hooks.example.com:8443/{path}?{path}")
        incident = desk.open(channel)
    reader = new_key(runtime, org, effective(BUILTIN_SETS[READ_ONLY_SET].permissions))
    writer = key("settings:read", "settings:write")
    for place in ("settings", "settings/schema", "audit-log", f"alerts/incidents/{incident.id}"):
        answer = client.get(f"/v1/{place}", headers=reader)
        assert answer.status_code == 200
        assert path not in answer.text
    shown = row(client, reader, "alerts.webhook_default_url")["value"]
    assert shown == "https://hooks.example.com:8443/…"
    refused = put(client, writer, "alerts.webhook_default_url", shown)
    assert (refused.status_code, "the whole URL" in refused.text) == (422, True)
    assert path in row(client, writer, "alerts.webhook_default_url")["value"]


@pytest.mark.parametrize(
    ("url", "noted"),
    [("http://10.0.0.7/in", True), ("http://receiver:8080", True), ("https://x.example", False)],
)
def test_a_private_webhook_is_saved_with_a_note(
    client: FlaskClient, key: Key, url: str, noted: bool
) -> None:
    headers, name = key("settings:read", "settings:write"), "alerts.webhook_default_url"
    saved = put(client, headers, name, url).get_json()
    assert ("WEBHOOK_ALLOW_PRIVATE" in (saved["note"] or "")) == noted
    assert row(client, headers, name)["note"] == saved["note"]


def test_null_takes_a_setting_back_to_its_default(client: FlaskClient, key: Key) -> None:
    headers = key()
    fresh = row(client, headers, "otp_ttl_secs")
    put(client, headers, "otp_ttl_secs", 60)
    assert put(client, headers, "otp_ttl_secs", None).get_json() == fresh
    put(client, headers, "otp_ttl_secs", 60)
    bare = client.put(
        "/v1/settings/otp_ttl_secs", data=b"null", content_type="application/json", headers=headers
    )
    assert bare.get_json() == fresh == row(client, headers, "otp_ttl_secs")


def test_a_default_is_taken_back_to_in_one_organization_alone(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    headers = key()
    theirs = new_key(runtime, make_org(runtime))
    for one in (headers, theirs):
        put(client, one, "otp_ttl_secs", 60)
        put(client, one, "session_ttl_secs", 61)
    put(client, headers, "otp_ttl_secs", None)
    assert row(client, theirs, "otp_ttl_secs")["value"] == 60
    assert row(client, headers, "session_ttl_secs")["value"] == 61


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("otp_ttl_secs", 120),
        ("redaction.payload_keys", ["password"]),
        ("alerts.webhook_default_url", "https://x.example"),
        ("otel.ingest_enabled", False),
        ("otel.other_spans", "all"),
        # False in Python, and values like any other.
        ("retention.events_days", 0),
        ("alerts.webhook_default_url", ""),
        ("allowed_sign_ins", []),
    ],
)
def test_a_bare_value_is_as_good(client: FlaskClient, key: Key, name: str, value: object) -> None:
    response = client.put(f"/v1/settings/{name}", json=value, headers=key())
    assert (response.status_code, response.get_json()["value"]) == (200, value)


@pytest.mark.parametrize("body", [b"{}", b'{"values": 1}', b""])
def test_a_body_without_a_value_is_refused(client: FlaskClient, key: Key, body: bytes) -> None:
    response = client.put(
        "/v1/settings/otp_ttl_secs", data=body, content_type="application/json", headers=key()
    )
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {"value"}


def test_a_refused_value_changes_nothing(client: FlaskClient, key: Key) -> None:
    headers = key()
    before = put(client, headers, "retention.events_days", 30).get_json()
    for value in (-1, 30.5, True, "30", [30], {"days": 30}):
        response = put(client, headers, "retention.events_days", value)
        assert response.status_code == 422
        assert response.get_json()["fields"].keys() == {"value"}
    assert row(client, headers, "retention.events_days") == before


@pytest.mark.parametrize("name", ["nothing", "alerts", "OTP_TTL_SECS", "%00", "a%2Fb"])
def test_an_unknown_key_is_not_found(client: FlaskClient, key: Key, name: str) -> None:
    response = put(client, key(), name, 1)
    assert (response.status_code, response.get_json()["code"]) == (404, "not_found")


def test_a_secret_is_never_shown_nor_logged(client: FlaskClient, key: Key) -> None:
    headers, secret = key(), "hush-hush-very-secret"
    with capture_logs() as logs:
        answers = [put(client, headers, SECRET, value) for value in (secret, secret * 40, [secret])]
        answers.append(client.get("/v1/settings", headers=headers, buffered=True))
    assert [answer.status_code for answer in answers] == [200, 422, 422, 200]
    assert len(logs) >= len(answers)
    for said in (*(answer.get_data(as_text=True) for answer in answers), str(logs)):
        assert secret not in said
    found = row(client, headers, SECRET)
    assert (found["value"], found["value_set"]) == ("", True)
    cleared = put(client, headers, SECRET, "").get_json()
    assert (cleared["value"], cleared["value_set"]) == ("", False)
    assert cleared["updated_by"] is not None


def test_a_permission_set_has_to_exist_in_the_organization(
    client: FlaskClient, key: Key, runtime: Runtime, org: Org
) -> None:
    headers = key()
    with runtime.postgres.transaction() as session:
        session.add(PermissionSet(org_id=org.uuid, name="Own set", permissions=["events:read"]))
        other = make_org(runtime)
        session.add(PermissionSet(org_id=other.uuid, name="theirs", permissions=[]))
    for name in ("Own set", "read-only", "standard", "admin"):
        assert put(client, headers, "default_user_permissions", name).get_json()["value"] == name
    for name in ("theirs", "own set", "", "nul\0", "x" * 1000):
        response = put(client, headers, "default_user_permissions", name)
        assert (response.status_code, list(response.get_json()["fields"])) == (422, ["value"])


def test_the_default_set_of_new_members_is_the_deployments(runtime: Runtime, key: Key) -> None:
    settings = msgspec.structs.replace(runtime.settings, default_user_permissions="read-only")
    with connected(settings) as changed:
        client = create_app(changed).test_client()
        found = row(client, key(), "default_user_permissions")
        assert (found["value"], found["schema"]["default"]) == ("read-only", "read-only")
        entries = client.get("/v1/settings/schema", headers=key()).get_json()["settings"]
        assert found["schema"] in entries


def test_people_cannot_lock_themselves_out(
    client: FlaskClient, person: Callable[..., Headers]
) -> None:
    email = new_email()
    me = person(email=email)
    for refused in (["ben@example.com"], ["*@example.org", "x" + email]):
        response = put(client, me, "allowed_sign_ins", refused)
        assert (response.status_code, list(response.get_json()["fields"])) == (422, ["value"])
    for taken in ([email.upper()], ["*@example.com"], []):
        changed = put(client, me, "allowed_sign_ins", taken).get_json()
        assert changed["updated_by"] == email
        assert client.get("/v1/settings", headers=me).status_code == 200
    assert put(client, me, "allowed_sign_ins", None).status_code == 200


def test_an_actor_cannot_lock_itself_out_either(
    client: FlaskClient, runtime: Runtime, org: Org, key: Key
) -> None:
    email = new_email()
    add_member(runtime, org, email=email)
    response = put(client, acting_as(email, org.slug), "allowed_sign_ins", ["*@example.org"])
    assert response.status_code == 422
    assert put(client, key(), "allowed_sign_ins", ["*@example.org"]).status_code == 200


def test_an_allowlist_holds_from_the_next_request_on(
    client: FlaskClient, person: Callable[..., Headers], runtime: Runtime, key: Key
) -> None:
    other_process = create_app(runtime).test_client()
    me = person()
    assert other_process.get("/v1/settings", headers=me).status_code == 200
    assert put(client, key(), "allowed_sign_ins", ["*@example.org"]).status_code == 200
    assert other_process.get("/v1/settings", headers=me).status_code == 401


def test_settings_are_the_organizations_own(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    stranger = new_key(runtime, make_org(runtime))
    for name, value in (("otp_ttl_secs", 61), (SECRET, "mine"), ("allowed_sign_ins", ["a@b.de"])):
        untouched = row(client, stranger, name)
        assert put(client, key(), name, value).status_code == 200
        assert row(client, stranger, name) == untouched


def test_nothing_changes_while_redis_cannot_notify_the_other_processes(
    client: FlaskClient, key: Key, runtime: Runtime
) -> None:
    headers = key()
    before = row(client, headers, "otp_ttl_secs")
    away = f"redis://127.0.0.1:{free_port()}/0"
    with connected(msgspec.structs.replace(runtime.settings, redis_url=away)) as broken:
        alone = create_app(broken).test_client()
        assert put(alone, headers, "otp_ttl_secs", 61).status_code == 503
    assert row(client, headers, "otp_ttl_secs") == before


def test_the_body_is_bounded(client: FlaskClient, key: Key) -> None:
    value = ["k" * 200] * 20_000
    assert put(client, key(), "redaction.payload_keys", value).status_code == 413
