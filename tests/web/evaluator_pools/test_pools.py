"""Pools of workers over HTTP: the token is shown once."""

from collections.abc import Callable

from flask.testing import FlaskClient

from tests.support.app import Headers

Key = Callable[..., Headers]

PATH = "/v1/evaluator-pools"


def test_a_pool_from_its_start_to_its_end(client: FlaskClient, key: Key) -> None:
    headers = key()
    created = client.post(PATH, json={"name": " b "}, headers=headers)
    assert created.status_code == 201
    row = created.get_json()
    token = row.pop("token")
    assert token.startswith("wpw_")
    assert (row["name"], row["may_define"], row["workers"]) == ("b", True, [])
    other = client.post(PATH, json={"name": "a", "may_define": False}, headers=headers).get_json()
    assert other["may_define"] is False
    del other["token"]
    assert client.get(PATH, headers=headers).get_json() == {"pools": [other, row]}

    renewed = client.post(f"{PATH}/{row['id']}/token", headers=headers).get_json()
    assert renewed.pop("token") not in (token, None)
    assert renewed == row
    assert client.delete(f"{PATH}/{row['id']}", headers=headers).status_code == 204
    assert client.get(PATH, headers=headers).get_json() == {"pools": [other]}
    for method, tail in (("DELETE", ""), ("POST", "/token")):
        gone = client.open(f"{PATH}/{row['id']}{tail}", method=method, headers=headers)
        assert gone.status_code == 404
    query = {"noun": "evaluator_pool"}
    lines = client.get("/v1/audit-log", query_string=query, headers=headers).get_json()["lines"]
    assert [line["action"] for line in lines] == [
        "evaluator_pool.delete",
        "evaluator_pool.renew_token",
        "evaluator_pool.create",
        "evaluator_pool.create",
    ]


def test_refusals(client: FlaskClient, key: Key) -> None:
    headers = key()
    for body in ({}, {"name": ""}, {"name": "a\nb"}, {"name": "a", "may_define": 1}):
        refused = client.post(PATH, json=body, headers=headers)
        assert refused.status_code == 422, body
    assert client.post(PATH, json={"name": "a"}, headers=headers).status_code == 201
    taken = client.post(PATH, json={"name": "a"}, headers=headers)
    assert (taken.status_code, taken.get_json()["code"]) == (409, "pool_exists")


def test_who_configures_pools_may_read_events(client: FlaskClient, key: Key) -> None:
    pool = client.post(PATH, json={"name": "a"}, headers=key()).get_json()["id"]
    writes: list[tuple[str, str]] = [
        ("POST", PATH),
        ("DELETE", f"{PATH}/{pool}"),
        ("POST", f"{PATH}/{pool}/token"),
    ]
    for given, missing in (
        (("events:read", "evaluations:read"), "settings:write"),
        (("settings:write",), "events:read"),
    ):
        headers = key(*given)
        for method, path in writes:
            body = {"name": "b"} if path == PATH else None
            answer = client.open(path, method=method, json=body, headers=headers)
            assert answer.status_code == 403
            assert answer.get_json()["required_permission"] == missing
    assert client.get(PATH, headers=key("evaluations:read")).status_code == 200
    assert client.get(PATH, headers=key("settings:write")).status_code == 403
