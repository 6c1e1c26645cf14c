"""A deletion of a user removes the sessions whose events have that user, round after round."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import rows
from shared.intake.ingest.accept import Ingest
from shared.intake.ingest.dimensions import EventDimensions
from shared.intake.ingest.sender import Sender
from shared.reading.sessions import deleted
from shared.upkeep.deletions import in_clickhouse, in_postgres, running, service
from shared.upkeep.deletions.mentions import Mentions
from shared.upkeep.deletions.target import DeletionTarget
from shared.upkeep.deletions.users import names_user
from shared.watch.incidents.models import Incident
from shared.watch.incidents.opening import Breach
from tests.support.deletions import delete, drain
from tests.support.events import event
from tests.support.incidents import add_alert, breach, opening_of, stored
from tests.support.runtime import Org, make_org

USER = "zoe"
TARGET = DeletionTarget(value=USER)


def send(runtime: Runtime, org: Org, *lines: bytes) -> None:
    Ingest(runtime).accept(
        Sender(org.id, org.slug),
        body=b"\n".join(lines),
        media_type="application/x-ndjson",
        encoding="identity",
    )
    drain(runtime)


def fill(runtime: Runtime, org: Org) -> None:
    """Stores five sessions of the user, and one of another user, whom she interrupts."""
    send(
        runtime,
        org,
        *(event(f"hers-{n}", "10:00:00", user_id=USER) for n in range(5)),
        *(event(f"hers-{n}", "10:00:01") for n in range(5)),
        event("his", "10:00:00", user_id="zoe.two"),
        event("his", "10:00:01", "human_pause", user_id=USER),
    )


def sessions_of(runtime: Runtime, org: Org) -> set[str]:
    found = runtime.clickhouse.rows(
        "SELECT DISTINCT session_id FROM events WHERE org_id = {org_id:String}", {"org_id": org.id}
    )
    return {str(session_id) for (session_id,) in found}


def incident_of(runtime: Runtime, org: Org, user: str) -> Incident:
    evidence = {"group": {"user_id": user}, "value": 7, "sessions": [["s", 7]]}
    alert = add_alert(runtime, org)
    opening = replace(
        opening_of(alert),
        group={"user_id": user},
        title=f"Research: user {user} spent $41.20 of $50.00",
        breach=Breach(7, f"user {user} spent $41.20", evidence),
    )
    made = breach(runtime, opening).incident
    remembers = text("UPDATE alert_states SET groups = CAST(:groups AS jsonb) WHERE alert_id = :id")
    announced = text(
        "INSERT INTO budget_levels (org_id, alert_id, spec_revision, starts_at, group_value, level)"
        " VALUES (:org_id, :id, 1, now(), :user, 50)"
    )
    with runtime.postgres.transaction() as session:
        groups = json.dumps({user: {"recent": [True]}})
        session.execute(remembers, {"groups": groups, "id": alert.id})
        session.execute(announced, {"org_id": org.uuid, "id": alert.id, "user": user})
    return made


def remembered(runtime: Runtime, incident: Incident) -> tuple[list[str], list[str]]:
    """Returns the groups that the incident's alert remembers, and those with announced levels."""
    params = {"id": incident.alert_id}
    states = text("SELECT jsonb_object_keys(groups) FROM alert_states WHERE alert_id = :id")
    levels = text("SELECT group_value FROM budget_levels WHERE alert_id = :id")
    with runtime.postgres.transaction() as session:
        first, second = (list(session.scalars(one, params)) for one in (states, levels))
    return first, second


@pytest.mark.parametrize("a_round", [2, 5, 100])
def test_all_sessions_of_the_user_go_and_no_others(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch, a_round: int
) -> None:
    monkeypatch.setattr(running, "MAX_SESSIONS", a_round)
    other = make_org(runtime)
    fill(runtime, other)
    fill(runtime, org)
    preview = service.preview(runtime, org.uuid, TARGET)

    done = delete(runtime, org, TARGET)

    assert (done.error, done.value, done.session_ids) == (None, None, None)
    assert sessions_of(runtime, org) == {"his"}
    assert len(sessions_of(runtime, other)) == 6
    assert done.sessions == preview["sessions"] == 5
    counts = {"events": 10, "agent_sessions": 5, "evaluations": 0, "own_evaluations": 0}
    assert preview["removed"]["clickhouse"] == counts
    assert {name: rows for name, rows in counts.items() if rows} == done.removed["clickhouse"]
    assert set(done.removed) == {"clickhouse", "postgres", "redis"}


def test_too_many_sessions_of_a_user_change_nothing(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MAX_OF_USER", 4)
    fill(runtime, org)
    done = delete(runtime, org, TARGET)
    assert done.state == "failed"
    assert done.error is not None
    assert "more than 4 sessions" in done.error
    assert len(sessions_of(runtime, org)) == 6


class Killed(Exception):
    """Ends a deletion at one of its steps."""


@pytest.mark.parametrize("step", ["_fence", "_clean_redis", "_end_round", "hide"])
def test_a_deletion_that_is_killed_in_a_round_goes_on(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(running, "MAX_SESSIONS", 2)
    fill(runtime, org)
    owner: Any = in_clickhouse if step == "hide" else running._Step
    real = getattr(owner, step)
    calls: list[str] = []

    def kill(*args: Any, **named: Any) -> None:
        real(*args, **named)
        calls.append(step)
        if len(calls) % 2:
            raise Killed

    monkeypatch.setattr(owner, step, kill)
    done = delete(runtime, org, TARGET)
    assert len(calls) > 2
    assert sessions_of(runtime, org) == {"his"}
    assert (done.sessions, done.removed["clickhouse"]) == (5, {"events": 10, "agent_sessions": 5})


@pytest.mark.parametrize("user", [USER, "zoe@example.org", "7"])
def test_incidents_name_the_user_no_more_and_others_as_before(
    runtime: Runtime, org: Org, user: str
) -> None:
    send(runtime, org, event("hers", "10:00:00", user_id=user))
    others = ["zoe.two", f"{user}-2", f"x.{user}", f"{user}@example.com"]
    hers = incident_of(runtime, org, user)
    theirs = [incident_of(runtime, org, one) for one in others]

    done = delete(runtime, org, DeletionTarget(value=user))

    found = stored(runtime, hers)
    assert found.title == "Research: user [deleted] spent $41.20 of $50.00"
    assert found.breach_summary == "user [deleted] spent $41.20"
    assert found.breach_group == {"user_id": "[deleted]"}
    assert remembered(runtime, hers) == (["[deleted]"], [])
    assert found.evidence is not None
    assert found.evidence["group"] == {"user_id": "[deleted]"}
    assert (found.evidence["value"], found.evidence["sessions"]) == (7, [["s", 7]])
    for before in theirs:
        after = stored(runtime, before)
        assert (after.title, after.evidence) == (before.title, before.evidence)
        assert after.breach_group == before.breach_group
        user = (before.breach_group or {})["user_id"] or ""
        assert remembered(runtime, before) == ([user], [user])
    assert done.removed["postgres"]["incidents"] == 1
    assert done.removed["postgres"]["budget_levels"] == 1


def of_otel(*, name: str = "chat", **otel: dict[str, Any]) -> dict[str, Any]:
    return {"otel": {"name": name, **otel}}


BEFORE: list[tuple[str, dict[str, Any], bool]] = [
    ("tool_use", {"user_id": USER}, True),
    ("tool_use", {"user_id": "zoe.two"}, False),
    ("tool_use", {"user_id": [USER]}, False),
    ("human_input", {"user_id": USER}, True),
    ("agent_pause", {"user_id": USER}, False),
    ("agent_resume", {"user_id": USER}, False),
    ("human_pause", {"user_id": USER}, False),
    ("human_interrupt", {"user_id": USER}, False),
    ("tool_use", {"user": USER}, False),
    ("span", of_otel(attributes={"enduser.id": USER}), True),
    ("span", of_otel(resource={"enduser.id": USER}), True),
    ("span", of_otel(attributes={"user.id": "x", "enduser.id": USER}), False),
    ("span", of_otel(attributes={"user.id": "x"}, resource={"user.id": USER}), False),
    ("span", of_otel(attributes={"user.id": "[redacted]", "enduser.id": USER}), True),
    ("span", of_otel(attributes={"metadata": {"user_id": USER}}), True),
    ("span", of_otel(attributes={"metadata": json.dumps({"user_id": USER})}), True),
    ("span", of_otel(attributes={"user.email": USER}), False),
    ("span", of_otel(name="claude_code.api_request", attributes={"user.email": USER}), True),
    (
        "span",
        of_otel(name="claude_code.tool", attributes={"user.email": "x", "user.id": USER}),
        False,
    ),
    ("span", of_otel(attributes={"user.id": "x"}) | {"user_id": USER}, True),
]


def test_sql_and_python_agree_about_the_users_of_events_without_the_column(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [event(f"s-{n}", "10:00:00", kind, **more) for n, (kind, more, _) in enumerate(BEFORE)]
    numbers = event("number", "10:00:00", user_id=12)
    monkeypatch.setattr(rows, "read_dimensions", lambda *_: EventDimensions())
    send(runtime, org, *lines, numbers)
    with runtime.postgres.transaction() as session:
        hashing = deleted.hashing_of(session, org.uuid)

    def found(user: str) -> set[str]:
        value_hash = hashing.of(user).hex()
        return set(
            in_clickhouse.sessions_naming(runtime.clickhouse, hashing, None, value_hash, 100)
        )

    wanted = {f"s-{n}" for n, (_, _, is_hers) in enumerate(BEFORE) if is_hers}
    assert found(USER) == wanted
    assert found("12") == {"number"}
    named = {f"s-{n}" for n, line in enumerate(lines) if names_user(BEFORE[n][0], line, USER)}
    assert named == wanted
    assert names_user("tool_use", numbers, "12")


def test_the_column_counts_before_the_payload(runtime: Runtime, org: Org) -> None:
    send(
        runtime, org, event("hers", "10:00:00", user_id=USER, otel={"attributes": {"user.id": "x"}})
    )
    with runtime.postgres.transaction() as session:
        hashing = deleted.hashing_of(session, org.uuid)
    for user, found in ((USER, ["hers"]), ("x", [])):
        value_hash = hashing.of(user).hex()
        assert (
            in_clickhouse.sessions_naming(runtime.clickhouse, hashing, None, value_hash, 9) == found
        )


@pytest.mark.parametrize(
    ("stored", "left"),
    [
        (
            b'{"breach":{"group":{"user_id":"zoe"}},"n":1}',
            '{"breach": {"group": {"user_id": "[deleted]"}}, "n": 1}',
        ),
        (b'{"text":"*user zoe* spent $1"}', '{"text": "*user [deleted]* spent $1"}'),
        (b"user zoe spent {$1}", "user [deleted] spent {$1}"),
        (b'{"group":{"user_id":"zoe.two"}}', None),
        (b"\xffuser two", None),
    ],
)
def test_stored_bodies_of_deliveries_name_the_user_no_more(stored: bytes, left: str | None) -> None:
    changed = in_postgres._changed(stored, "bytea", Mentions([USER], user=USER))
    assert changed == (None if left is None else left.encode())


def test_a_user_counts_where_titles_and_fields_name_one() -> None:
    mentions = Mentions(["session-one", "42"], user="42")
    assert mentions.replaced("user 42 and 42 calls, user 421") == (
        "user [deleted] and 42 calls, user 421"
    )
    assert mentions.replaced_in({"user_id": 42, "calls": 42, "of": ["42", 42]}) == {
        "user_id": "[deleted]",
        "calls": 42,
        "of": ["[deleted]", 42],
    }
    mentions = Mentions(["zoe@example.org"], user="zoe@example.org")
    assert mentions.replaced("ask zoe@example.org. Not to zoe@example.org.uk") == (
        "ask [deleted]. Not to zoe@example.org.uk"
    )
