"""Sign-in over HTTP: the same answer for everybody, limits, and the stored traces."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from devstack import DevStack
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import new_email
from tests.support.runtime import Org, connected, settings_for
from tests.support.sign_in import Visitor, new_code, other_than, row_of
from tests.support.statements import counted_statements
from web.app import create_app

FORM = "application/x-www-form-urlencoded"


def outbox(runtime: Runtime, email: str) -> list[tuple[str, str | None]]:
    """Returns kind and organization of the mails to an address."""
    with runtime.postgres.transaction() as session:
        query = text("SELECT kind, org_id FROM mails WHERE recipient = :email")
        return [(row.kind, row.org_id) for row in session.execute(query, {"email": email})]


def test_everybody_gets_the_same_answer_by_the_same_work(
    web_runtime: Runtime, app: Flask, email: str
) -> None:
    redis, mark = web_runtime.redis, "nudge:send_mail"

    def ask(address: str) -> list[Any]:
        visitor = Visitor.of(app)
        # Set the mark of a pending wake-up. Otherwise the result would depend on the moment.
        redis.set(mark, b"1")
        redis.config_resetstat()
        with counted_statements(web_runtime) as statements:
            response = visitor.ask(address)
        calls = {name: of["calls"] for name, of in redis.info("commandstats").items()}
        headers = [name for name, _ in response.headers]
        return [statements, calls, response.status_code, response.get_json(), headers]

    ask(new_email())  # Redis loads the scripts.
    stranger = new_email()
    of_member, of_stranger = ask(email), ask(stranger)
    redis.delete(mark)
    assert of_member == of_stranger
    assert of_member[1]["cmdstat_evalsha"] == 4
    assert of_member[2:4] == [200, {"sent": True}]
    for address in (email, stranger):
        assert outbox(web_runtime, address) == [("code", None)]
        assert row_of(web_runtime, address) is None


def test_spellings_of_an_address_are_one(runtime: Runtime, app: Flask, email: str) -> None:
    spelled = f"  {email.upper()} "
    assert Visitor.of(app).ask(spelled).status_code == 200
    assert outbox(runtime, email) == [("code", None)]
    response = Visitor.of(app).enter(spelled, f" {new_code(runtime, email)}\n")
    assert response.status_code == 200
    assert response.get_json()["user"]["email"] == email
    statuses = [Visitor.of(app).ask(one).status_code for one in (email, email.title()) * 3]
    assert statuses == [200] * 4 + [429] * 2


@pytest.mark.parametrize("bad", ["", "ann", "ann@", "a b@x.example", 7, None, ["a@x.example"], {}])
def test_an_invalid_address_is_refused_and_not_counted(visitor: Visitor, bad: object) -> None:
    for _ in range(40):
        response = visitor.ask(bad)
        assert response.status_code == 422
        assert response.get_json()["fields"].keys() == {"email"}
    assert visitor.ask(new_email()).status_code == 200
    for _ in range(12):
        response = visitor.enter(bad, "123456")
        assert response.status_code == 422
        assert response.get_json()["fields"].keys() == {"email"}
    assert visitor.enter(new_email(), "123456").status_code == 401


@pytest.mark.parametrize("bad", [123456, None, ["123456"]])
def test_a_code_is_text(visitor: Visitor, email: str, bad: object) -> None:
    response = visitor.enter(email, bad)
    assert response.status_code == 422
    assert response.get_json()["fields"].keys() == {"code"}


@pytest.mark.parametrize("route", ["otp/request", "otp/verify"])
def test_only_json_is_read(visitor: Visitor, route: str) -> None:
    """A form on another host's page can then neither send mail nor sign its victim in."""
    path = f"/v1/auth/{route}"
    body = json.dumps({"email": new_email(), "code": "123456"})
    for content_type in (FORM, "text/plain"):
        assert visitor.client.post(path, data=body, content_type=content_type).status_code == 415
    assert visitor.client.post(path, data=b"{", content_type="application/json").status_code == 400
    assert visitor.client.post(path).status_code == 422


def test_a_wrong_try_is_counted_although_it_is_refused(
    runtime: Runtime, app: Flask, email: str
) -> None:
    code = new_code(runtime, email)
    for number in range(1, 6):
        response = Visitor.of(app).enter(email, other_than(code))
        assert (response.status_code, response.get_json()["code"]) == (401, "wrong_code")
        assert "Set-Cookie" not in response.headers
        row = row_of(runtime, email)
        assert row is not None
        assert row.wrong_tries == number
    assert Visitor.of(app).enter(email, code).status_code == 401


def test_wrong_expired_used_and_unknown_codes_look_the_same(
    runtime: Runtime, app: Flask, email: str
) -> None:
    def refusal(address: str, code: str) -> dict[str, str]:
        response = Visitor.of(app).enter(address, code)
        assert response.status_code == 401
        return {**response.get_json(), "request_id": ""}

    code = new_code(runtime, email)
    answers = [refusal(new_email(), code), refusal(email, other_than(code)), refusal(email, "")]
    Visitor.of(app).enter(email, code)
    answers.append(refusal(email, code))
    assert all(answer == answers[0] for answer in answers)


def ask_for_somebody(visitor: Visitor) -> TestResponse:
    return visitor.ask(new_email())


def enter_something(visitor: Visitor) -> TestResponse:
    return visitor.enter(new_email(), "123456")


@pytest.mark.parametrize(("count", "limit"), [(ask_for_somebody, 30), (enter_something, 10)])
def test_a_limited_client_gets_a_retry_time(
    app: Flask, visitor: Visitor, count: Callable[[Visitor], TestResponse], limit: int
) -> None:
    responses = [count(visitor) for _ in range(limit + 2)]
    statuses = [response.status_code for response in responses]
    assert statuses[limit:] == [429, 429]
    assert 429 not in statuses[:limit]
    assert responses[-1].get_json()["code"] == "rate_limited"
    assert int(responses[-1].headers["Retry-After"]) >= 1
    assert count(Visitor.of(app)).status_code != 429


def test_a_network_of_64_bits_is_one_client(app: Flask) -> None:
    network = f"2001:db8:{random.randrange(1 << 16):x}:{random.randrange(1 << 16):x}"
    neighbours = [Visitor.of(app, f"{network}::{number:x}") for number in range(11)]
    statuses = [one.enter(new_email(), "123456").status_code for one in neighbours]
    assert statuses == [401] * 10 + [429]


@pytest.mark.parametrize("away", ["redis_url", "database_url"])
def test_without_a_store_no_sign_in_works(stack: DevStack, email: str, away: str) -> None:
    gone = {
        "redis_url": "redis://127.0.0.1:1/0",
        "database_url": "postgresql://nobody@127.0.0.1:1/none",
    }
    with connected(settings_for(stack.urls, **{away: gone[away]})) as runtime:
        visitor = Visitor.of(create_app(runtime))
        for response in (visitor.ask(email), visitor.enter(email, "123456")):
            assert response.status_code == 503
            assert response.headers["Retry-After"]


def test_signing_out_without_a_session_works_without_redis(stack: DevStack) -> None:
    with connected(settings_for(stack.urls, redis_url="redis://127.0.0.1:1/0")) as runtime:
        assert Visitor.of(create_app(runtime)).leave().status_code == 200


def test_no_log_line_holds_a_code_a_token_or_an_address(
    runtime: Runtime, org: Org, visitor: Visitor, email: str
) -> None:
    with capture_logs() as logs:
        visitor.ask(email)
        code = new_code(runtime, email)
        wrong = other_than(code)
        visitor.enter(email, wrong)
        visitor.enter(email, code)
        token = visitor.client.get_cookie("service_session")
        assert token is not None
        visitor.session()
        visitor.leave()
    assert len(logs) >= 7
    assert {"signed_in", "signed_out", "request"} <= {line["event"] for line in logs}
    told = [{**line, "duration_ms": 0, "request_id": ""} for line in logs]
    for secret in (code, wrong, token.value, email):
        assert secret not in str(told)
