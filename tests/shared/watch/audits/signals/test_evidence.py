"""Common properties of all candidates: their evidence can be looked up and run again.

Uses two days of the airline recording with all faults at once, and with secrets and odd names in
all texts that signals quote.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from shared.foundation.clickhouse import literals
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.guard.lexer import MAX_LENGTH
from shared.reading.queries.guard.statement import guard
from shared.watch.audits import rules
from shared.watch.audits.findings.rules import SCOPES
from shared.watch.audits.signals import NAMES, SIGNALS
from shared.watch.audits.signals.interface import MAX_CITED, Candidate
from tests.support.airline import Airline
from tests.support.app import Headers, new_key
from tests.support.days import REFUNDS, SUPPORT, WINDOW, Days, Event, days, store, templates_of
from tests.support.faults import FAULTS
from tests.support.injection import inject
from tests.support.looks import look_at
from tests.support.runtime import Org, make_org

# Assembled here, so that no file holds a text that looks like a key.
SECRETS = (
    "AKIA" + "Q3EGXUH4T2ZLM7WA",
    "ghp_" + "4fTq9ZbXw2LmKs8RvYcJ1nHdPe6GuAiO3tQx",
    "sk-proj-" + "Zk3Vn8QpLr5Tx2Wm9Yb4Hc7Jd1Fg6SaUeIoNqRtX0vBzCyM",
    "xoxb-" + "481516234200-108151623420-QwErTyUiOpAsDfGhJkLzXcVb",
    "Bearer " + "QmVhcmVyLXRva2VuLW9mLWEtdGVzdA",
    "password=" + "CorrectHorseBatteryStaple",
)
# Longer than the common prefix of its kind.
_TELLING = 10
ODD = 'it\'s "a" \\ `b` $1 {p1:String} -- /* \N{SNOWMAN} */ 100%; ?'
# Names of the recording, each with as many others as an audit may have, of maximal length, with
# characters that need escaping in a literal or take four bytes.
LONGEST = {
    field: (*known, *(f"{n:03}" + "'\\\N{AIRPLANE}" * 84 + "." for n in range(100 - len(known))))
    for field, known in (
        ("environments", ("production", "staging")),
        ("agent_ids", (SUPPORT, REFUNDS)),
        ("ignore_error_types", ("LoginError",)),
    )
}
LOOKS: dict[str, dict[str, Any]] = {
    "everything": {"sensitivity": "high"},
    "a part": {
        "environments": ("production", "it's"),
        "agent_ids": (SUPPORT, "back\\slash"),
        "ignore_error_types": ("LoginError", 'quote"d'),
    },
    "the longest scope": {"sensitivity": "high", **LONGEST},
}


@dataclass(frozen=True)
class Audited:
    """An organization, the signals' findings by look and name, and the user of their queries."""

    org: Org
    found: dict[str, dict[str, list[Candidate]]]
    headers: Headers


@pytest.fixture(scope="module")
def audited(runtime: Runtime, airline: Airline) -> Audited:
    org = make_org(runtime)
    store(runtime.clickhouse, org.id, awkward(all_faults(airline)))
    return Audited(org, find_all(runtime, org), new_key(runtime, org, ("queries:run",)))


def all_faults(airline: Airline) -> Days:
    """Two days of the recording, with every fault in the second one."""
    made = days(templates_of(airline), seed=5)
    for fault in FAULTS:
        made = inject(made, 5, fault).days
    return made


def otherwise(made: Days) -> Days:
    """Returns the same sessions at the same times, each with another end and a longer duration."""
    for session in (*made.before, *made.now):
        last = dict(session.events[-1])
        if session.end is not None:
            failed = session.end.get("outcome") == "failure"
            session.events[-1] |= {"outcome": "success" if failed else "failure"}
        session.events.append({"us": last["us"] + 60_000_000, "type": "model_request"})
        session.reward = 1 - session.reward
    return made


def elsewhere(made: Days, place: dict[str, Any]) -> Days:
    """Returns other sessions with the same events in this environment or of this agent."""
    return Days(
        *(
            [replace(one, session_id=f"{one.session_id}-elsewhere", **place) for one in day]
            for day in (made.before, made.now)
        )
    )


def find_all(runtime: Runtime, org: Org) -> dict[str, dict[str, list[Candidate]]]:
    """Returns all findings in the organization, by look and signal."""
    looks = {
        name: look_at(runtime.clickhouse, org.id, WINDOW, **fields)
        for name, fields in LOOKS.items()
    }
    return {
        name: {signal: find(look) for signal, find in SIGNALS.items()}
        for name, look in looks.items()
    }


def awkward(made: Days) -> Days:
    """Two days with secrets and odd names in the second, often enough for signals to quote them."""
    now = []
    for number, session in enumerate(made.now):
        secret = SECRETS[number % len(SECRETS)]
        events = [dict(event) for event in session.events]
        events[0]["goal"] = f"use {secret}"
        if number % 3 == 0:
            events += fails(events[1], "LoginError", f"login with {secret} was refused")
        if number % 4 == 0:
            events += fails(events[2], ODD, f"{ODD} {number} of {secret}")
        if number < len(SECRETS):
            events += loops(events[3], secret)
        events.sort(key=lambda event: event["us"])
        now.append(replace(session, events=events))
    return Days(made.before, now)


def fails(after: Event, name: str, message: str) -> list[Event]:
    """Returns an error of this type, and a failing call of a tool of this name."""
    us = after["us"] + 1
    call = {"tool_name": name, "tool_call_id": f"failed-{us}"}
    return [
        {"us": us, "type": "error", "error_type": name, "message": message},
        {"us": us, "type": "tool_use", "input": {}, **call},
        {"us": us + 1, "type": "tool_result", "error": message, "duration_ms": 20, **call},
    ]


def loops(after: Event, secret: str) -> list[Event]:
    """Returns calls of a tool with the same secret, again and again."""
    return [
        {
            "us": after["us"] + turn,
            "type": "tool_use",
            "tool_name": "login",
            "tool_call_id": f"login-{turn}",
            "input": {"token": secret},
        }
        for turn in range(30)
    ]


def run(client: FlaskClient, audited: Audited, statement: str) -> dict[str, Any]:
    """Returns the answer of POST /queries/run."""
    answer = client.post("/v1/queries/run", json={"sql": statement}, headers=audited.headers)
    assert answer.status_code == 200, f"{answer.get_data(as_text=True)}\n{statement}"
    body: dict[str, Any] = answer.get_json()
    return body


@pytest.mark.parametrize("look", ["everything", "the longest scope"])
@pytest.mark.parametrize("signal", SIGNALS)
def test_each_signal_finds_something_to_be_held_to_this(
    audited: Audited, signal: str, look: str
) -> None:
    assert audited.found[look][signal]


def test_the_longest_scope_is_as_long_as_that_of_an_audit_may_be() -> None:
    for field, values in LONGEST.items():
        assert len(values) == len(set(values)) == rules.MAX_VALUES
        assert max(map(len, values)) == rules.MAX_VALUE_LENGTH
        sent = {field: values} if field == "ignore_error_types" else {"scope": {field: values}}
        assert rules.checked(sent, now())


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("signal", SIGNALS)
def test_the_first_query_gives_the_numbers_and_all_others_run(
    client: FlaskClient, audited: Audited, signal: str, look: str
) -> None:
    for candidate in audited.found[look][signal]:
        first, *others = [run(client, audited, query.sql) for query in candidate.queries]
        [row] = first["rows"]
        names = [column["name"] for column in first["columns"]]
        assert dict(zip(names, row, strict=True)) == candidate.numbers, candidate.key
        assert all(other["rows"] for other in others), candidate.key


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_query_has_a_title_and_is_one_that_may_be_run_and_saved(
    audited: Audited, signal: str
) -> None:
    for found in audited.found.values():
        for candidate in found[signal]:
            assert candidate.queries
            for query in candidate.queries:
                assert len(query.sql) <= MAX_LENGTH
                assert query.title.strip()
                assert guard(query.sql, [], schema="").params == {}


@pytest.mark.parametrize("signal", SIGNALS)
def test_the_longest_scope_leaves_room_for_the_longest_names(audited: Audited, signal: str) -> None:
    # A statement repeats the names of a finding at most four times.
    room = 4 * literals.MAX_LITERAL_CHARS
    for candidate in audited.found["the longest scope"][signal]:
        assert all(len(query.sql) + room <= MAX_LENGTH for query in candidate.queries)


@pytest.mark.parametrize("signal", SIGNALS)
def test_citations_exist_and_the_scope_can_be_filed(
    runtime: Runtime, audited: Audited, signal: str
) -> None:
    statement = "SELECT id, session_id, ts FROM events FINAL WHERE org_id = {org_id:String}"
    events = {
        event_id: (session_id, ts)
        for event_id, session_id, ts in runtime.clickhouse.rows(
            statement, {"org_id": audited.org.id}
        )
    }
    session_ids = {session_id for session_id, _ in events.values()}
    for found in audited.found.values():
        for candidate in found[signal]:
            assert 0 < len(candidate.session_ids) <= MAX_CITED
            assert len(candidate.event_ids) <= MAX_CITED
            assert session_ids.issuperset(candidate.session_ids)
            assert events.keys() >= set(candidate.event_ids)
            assert set(SCOPES) >= candidate.scope.keys()
            assert WINDOW.start <= candidate.first_seen_at <= candidate.last_seen_at < WINDOW.stop


@pytest.mark.parametrize("signal", SIGNALS)
def test_no_part_of_a_secret_is_reported(audited: Audited, signal: str) -> None:
    parts = {
        secret[start : start + _TELLING]
        for secret in SECRETS
        for start in range(len(secret) - _TELLING + 1)
    }
    for found in audited.found.values():
        for candidate in found[signal]:
            told = repr(asdict(candidate))
            assert not [part for part in parts if part in told], told


def test_looking_again_finds_the_same(runtime: Runtime, audited: Audited) -> None:
    again = find_all(runtime, audited.org)
    assert again == audited.found
    for found in again.values():
        for candidates in found.values():
            assert len({one.fingerprint for one in candidates}) == len(candidates)


def test_equal_names_in_another_organization_change_nothing(
    runtime: Runtime, audited: Audited, airline: Airline
) -> None:
    store(runtime.clickhouse, make_org(runtime).id, otherwise(all_faults(airline)))
    assert find_all(runtime, audited.org) == audited.found


@pytest.mark.parametrize("signal", SIGNALS)
def test_without_events_nothing_is_found(runtime: Runtime, org: Org, signal: str) -> None:
    assert SIGNALS[signal](look_at(runtime.clickhouse, org.id)) == []


def test_copies_change_nothing(runtime: Runtime, audited: Audited) -> None:
    org = make_org(runtime)
    for _ in range(2):
        store(runtime.clickhouse, org.id, Days([], []), like=audited.org.id)
    assert find_all(runtime, org) == audited.found


@pytest.mark.parametrize(
    "place", [{"environment": "elsewhere"}, {"agent_id": "nobody"}], ids=["environment", "agent"]
)
def test_what_is_outside_of_the_scope_changes_nothing(
    runtime: Runtime, audited: Audited, airline: Airline, place: dict[str, Any]
) -> None:
    """The same names and faults, in sessions of another environment or agent."""
    org = make_org(runtime)
    store(runtime.clickhouse, org.id, Days([], []), like=audited.org.id)
    store(runtime.clickhouse, org.id, elsewhere(awkward(all_faults(airline)), place))
    found = find_all(runtime, org)
    for look in ("a part", "the longest scope"):
        assert found[look] == audited.found[look]
    for signal, before in audited.found["everything"].items():
        assert found["everything"][signal] != before, signal


def test_registered_signals_have_the_documented_names_and_order() -> None:
    assert list(SIGNALS) == [name for name in NAMES if name in SIGNALS]
