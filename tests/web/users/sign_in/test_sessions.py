"""A person's own sessions: listed, and ended from the next request on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select, update
from werkzeug.test import TestResponse

from shared.access.audit_log.models import AuditLine
from shared.access.users import service as users
from shared.access.users.sign_in.browsers import browser_of
from shared.access.users.sign_in.models import SignInSession
from shared.access.users.sign_in.sessions import NOTED_EVERY
from shared.foundation.cache import at_once, renew_epoch
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from tests.support.app import Headers
from tests.support.people import acting_as, add_member, new_email
from tests.support.routes import UNUSED_ID, require_error
from tests.support.runtime import Org
from tests.support.sign_in import Visitor, new_code

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like"
    " Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
)


def sign_in(runtime: Runtime, visitor: Visitor, email: str, browser: str) -> None:
    answer = visitor.enter(email, new_code(runtime, email), User_Agent=browser)
    assert answer.status_code == 200


def rows(visitor: Visitor) -> list[dict[str, Any]]:
    answer = visitor.client.get("/v1/auth/sessions")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    found: list[dict[str, Any]] = answer.get_json()
    return found


def end(visitor: Visitor, session_id: str, **headers: str) -> TestResponse:
    return visitor.client.delete(f"/v1/auth/sessions/{session_id}", headers=headers)


@pytest.fixture
def other(runtime: Runtime, app: Flask, email: str) -> Visitor:
    """Another browser of the same person."""
    made = Visitor.of(app)
    sign_in(runtime, made, email, SAFARI)
    return made


def test_a_person_sees_where_they_are_signed_in(
    runtime: Runtime, visitor: Visitor, other: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    found = {row["browser"]: row for row in rows(visitor)}
    assert found.keys() == {"Firefox on Linux", "Safari on iOS"}
    assert found["Firefox on Linux"]["is_current"] is True
    assert found["Safari on iOS"]["is_current"] is False
    addresses = {one.client.environ_base["REMOTE_ADDR"] for one in (visitor, other)}
    assert {row["address"] for row in found.values()} == addresses
    cookie = visitor.client.get_cookie("service_session")
    assert cookie is not None
    assert cookie.value not in str(found)
    assert "hash" not in str(found)


def test_one_of_them_ends_from_the_next_request_on(
    runtime: Runtime, visitor: Visitor, other: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    assert other.session().status_code == 200
    [theirs] = [row for row in rows(visitor) if not row["is_current"]]
    answer = end(visitor, theirs["id"])
    assert (answer.status_code, answer.get_json()) == (200, {"ended": 1})
    assert "Set-Cookie" not in answer.headers
    assert other.session().status_code == 401
    assert visitor.session().status_code == 200
    require_error(end(visitor, theirs["id"]), 404)


def test_all_others_end_together(
    runtime: Runtime, visitor: Visitor, other: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    answer = visitor.client.delete("/v1/auth/sessions")
    assert (answer.status_code, answer.get_json()) == (200, {"ended": 1})
    assert other.session().status_code == 401
    [left] = rows(visitor)
    assert left["is_current"] is True


def test_the_own_one_ends_with_its_cookie(runtime: Runtime, visitor: Visitor, email: str) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    [own] = rows(visitor)
    answer = end(visitor, own["id"])
    assert answer.headers["Set-Cookie"].startswith("service_session=;")
    assert visitor.session().status_code == 401


def test_sessions_of_others_cannot_be_ended(
    runtime: Runtime, org: Org, app: Flask, visitor: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    [own] = rows(visitor)
    stranger, address = Visitor.of(app), new_email()
    add_member(runtime, org, email=address)
    sign_in(runtime, stranger, address, FIREFOX)
    for session_id in (own["id"], UNUSED_ID, "x"):
        require_error(end(stranger, session_id), 404)
    assert stranger.client.delete("/v1/auth/sessions").get_json() == {"ended": 0}
    assert visitor.session().status_code == 200


def test_a_page_of_another_host_cannot_end_them(
    runtime: Runtime, visitor: Visitor, other: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    foreign = {"Origin": "https://elsewhere.example"}
    require_error(visitor.client.delete("/v1/auth/sessions", headers=foreign), 403, "csrf")
    [theirs] = [row for row in rows(visitor) if not row["is_current"]]
    require_error(end(visitor, theirs["id"], **foreign), 403, "csrf")
    assert other.session().status_code == 200


def test_keys_have_none(
    runtime: Runtime, visitor: Visitor, email: str, key: Callable[..., Headers]
) -> None:
    for headers in ({}, key(), acting_as(email)):
        for method, path in (
            ("GET", "/v1/auth/sessions"),
            ("DELETE", "/v1/auth/sessions"),
            ("DELETE", f"/v1/auth/sessions/{UNUSED_ID}"),
        ):
            require_error(visitor.client.open(path, method=method, headers=headers), 401)


def test_removing_a_member_ends_them(
    runtime: Runtime, org: Org, visitor: Visitor, other: Visitor, email: str
) -> None:
    user_id = other.session().get_json()["id"]
    with at_once(runtime.postgres, runtime.redis) as session:
        users.disable(session, org.uuid, user_id)
    with runtime.postgres.transaction() as session:
        query = select(SignInSession.id).where(SignInSession.user_id == user_id)
        assert session.scalars(query).all() == []


def test_ends_are_in_the_audit_log(
    runtime: Runtime, org: Org, visitor: Visitor, other: Visitor, email: str
) -> None:
    sign_in(runtime, visitor, email, FIREFOX)
    visitor.client.delete("/v1/auth/sessions")
    with runtime.postgres.transaction() as session:
        query = select(AuditLine.actor).where(
            AuditLine.org_id == org.uuid, AuditLine.action == "user.end_session"
        )
        assert session.scalars(query).all() == [email]


@contextmanager
def counted_updates(runtime: Runtime) -> Iterator[list[str]]:
    """Collects the statements that change sessions."""
    seen: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("UPDATE sign_in_sessions"):
            seen.append(statement)

    event.listen(runtime.postgres.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(runtime.postgres.engine, "before_cursor_execute", note)


def test_the_last_use_costs_one_write_in_five_minutes(
    web_runtime: Runtime, visitor: Visitor, email: str
) -> None:
    sign_in(web_runtime, visitor, email, FIREFOX)
    [own] = rows(visitor)
    with counted_updates(web_runtime) as seen:
        for _ in range(3):
            renew_epoch(web_runtime.redis)
            assert visitor.session().status_code == 200
        assert seen == []
        begun = now() - 2 * NOTED_EVERY
        with web_runtime.postgres.transaction() as session:
            row = update(SignInSession).where(SignInSession.id == own["id"])
            session.execute(row.values(created_at=begun, last_used_at=None))
        seen.clear()
        for _ in range(3):
            renew_epoch(web_runtime.redis)
            assert visitor.session().status_code == 200
        assert len(seen) == 1
    [used] = rows(visitor)
    assert used["last_used_at"] > used["created_at"]
    assert timedelta(0) < NOTED_EVERY


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iOS"),
        (EDGE, "Edge on Windows"),
        ("curl/8.5.0", "curl"),
        ("<script>alert(1)</script>", None),
        ("", None),
    ],
)
def test_browsers_have_names(user_agent: str, name: str | None) -> None:
    assert browser_of(user_agent) == name
