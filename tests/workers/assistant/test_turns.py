"""Turns of the assistant from the question to the last frame, with a model that is scripted."""

import json
import threading
import time
from typing import Any

import pytest
from sqlalchemy import select, update

from shared.access.users import Membership
from shared.assistant.limits import UNWATCHED_SECS
from shared.assistant.models import AssistantTurn
from shared.foundation.deployment.runtime import Runtime
from tests.support import chat
from tests.support import evaluator as server
from tests.support.app import Headers, new_key
from tests.support.evaluator import Answer, Evaluator, Exchange, reply
from tests.support.events import event, store_events
from tests.support.people import add_member, new_member, signed_in
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org
from tests.workers.assistant.conftest import KEY, PATH, Site, events_in, frames_of, text_of

NOON = "12:00:00"


def turns_of(runtime: Runtime, org: Org) -> list[AssistantTurn]:
    with runtime.postgres.transaction() as session:
        query = select(AssistantTurn).where(AssistantTurn.org_id == org.uuid)
        found = list(session.scalars(query.order_by(AssistantTurn.created_at)))
        session.expunge_all()
        return found


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    """Returns the types of frames, pieces of text that follow each other as one."""
    found: list[str] = []
    for frame in frames:
        if found[-1:] != [frame["type"]] or frame["type"] != "text-delta":
            found.append(frame["type"])
    return found


def test_a_question_is_answered_with_the_results_of_tools(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    lines = [event("s-1", NOON), event("s-1", NOON, "error", error_type="timeout")]
    store_events(runtime.clickhouse, org.id, lines)
    model.script = [
        chat.calling(("count_errors", {}), ("run_sql", {"sql": "SELECT count() AS n FROM events"})),
        chat.by_results(
            lambda results: chat.saying(
                f"There is 1 failure among 2 events, see [s-1](/o/{org.slug}/sessions/s-1)."
                if '"total":1' in results[0] and '"rows":[[2]]' in results[1]
                else f"No: {results}"
            )
        ),
    ]
    frames = site.ask(me, "How many events failed?")
    steps = ["tool-start", "tool-end"]
    assert kinds(frames) == [*steps, *steps, "text-delta", "done"]
    assert text_of(frames).strip() == (
        f"There is 1 failure among 2 events, see [s-1](/o/{org.slug}/sessions/s-1)."
    )
    counted, ran = frames[1], frames[3]
    assert (frames[0]["tool"], frames[0]["input"]) == ("count_errors", {})
    assert (counted["ok"], counted["rows"], ran["ok"], ran["rows"]) == (True, 1, True, 1)
    assert frames[-1]["usage"] == {"input_tokens": 200, "output_tokens": 40, "tool_calls": 2}
    wait_until(lambda: turns_of(runtime, org)[0].state == "done")
    [turn] = turns_of(runtime, org)
    assert (turn.state, turn.request, turn.tool_calls) == ("done", None, 2)
    assert (turn.input_tokens, turn.output_tokens) == (200, 40)
    usage = site.client.get("/v1/usage", headers=new_key(runtime, org)).get_json()["usage"]
    assert (usage["assistant_turns"], usage["assistant_tokens"]) == (1, 240)
    asked = json.loads(model.requests[0].body)
    assert (asked["model"], asked["stream"]) == ("small", True)
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_tool_that_is_called_wrongly_says_why_and_the_turn_goes_on(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    model.script = [
        chat.calling(
            ("count_errors", "{not json"),
            ("list_sessions", {"limit": 100_000}),
            ("drop_table", {}),
            ("run_sql", {"sql": "DROP TABLE events"}),
            ("read_session", {"session_id": "none"}),
        ),
        chat.saying("I could not."),
    ]
    frames = site.ask(me, "Break something.")
    ends = [frame for frame in frames if frame["type"] == "tool-end"]
    assert [frame["ok"] for frame in ends] == [False] * 5
    assert kinds(frames)[-2:] == ["text-delta", "done"]
    results = chat.results_in(model.requests[1])
    said = [
        "do not fit: JSON is malformed",
        "do not fit: limit must be at most 200",
        "there is no tool",
        "SELECT can be run",
        "there is no session",
    ]
    for result, words in zip(results, said, strict=True):
        assert words.lower() in result.lower(), result


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (server.hang, "stopped answering"),
        (server.close_at_once, "broke"),
        (server.garbage, "broke"),
        (server.endless_headers, "broke"),
        (reply(429, b"", {"Retry-After": "7"}), "Ask again in 7 s"),
        (reply(500, {"error": KEY}), "status 500"),
        (reply(401), "refused the deployment's key"),
        (reply(200, b"data: {nonsense\n\n"), "not a chat completion"),
        (reply(200, b"data: " + b"x" * 10_000_000), "too long"),
        (chat.streamed({"content": "word " * 30_000}), "too long"),
    ],
    ids=[
        *("hangs", "resets", "no-http", "endless-headers", "429", "500", "401"),
        *("nonsense", "10-mb", "too-much-text"),
    ],
)
def test_a_model_that_fails_ends_the_turn_with_a_sentence(
    site: Site,
    model: Evaluator,
    runtime: Runtime,
    org: Org,
    me: Headers,
    answer: Answer,
    words: str,
) -> None:
    model.script = [answer]
    frames = site.ask(me, "Hello?")
    assert frames[-1]["type"] == "error"
    assert words in frames[-1]["message"]
    assert KEY not in json.dumps(frames)
    wait_until(lambda: turns_of(runtime, org)[0].state == "failed")


def test_a_model_that_dies_in_the_middle_leaves_what_it_said_and_used(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    def die(exchange: Exchange) -> None:
        chat.begin(exchange)
        chat.send(exchange, chat.text_chunk("The first words "))

    model.script = [die]
    frames = site.ask(me, "Hello?")
    assert kinds(frames) == ["text-delta", "error"]
    assert text_of(frames) == "The first words "
    wait_until(lambda: turns_of(runtime, org)[0].state == "failed")
    [turn] = turns_of(runtime, org)
    assert turn.input_tokens > len("Hello?") // 4
    assert turn.output_tokens == len("The first words ") // 4


def test_a_question_that_the_model_refuses_uses_nothing(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    model.script = [reply(429, b"")]
    site.ask(me, "Hello?")
    wait_until(lambda: turns_of(runtime, org)[0].state == "failed")
    [turn] = turns_of(runtime, org)
    assert (turn.input_tokens, turn.output_tokens) == (0, 0)


def test_a_model_that_calls_tools_without_end_is_stopped(
    site: Site, model: Evaluator, me: Headers
) -> None:
    model.default = chat.calling(("list_alerts", {}))
    frames = site.ask(me, "Hello?")
    assert "without end" in frames[-1]["message"]


def test_a_question_to_the_person_ends_the_turn(site: Site, model: Evaluator, me: Headers) -> None:
    model.script = [chat.calling(("ask_user", {"question": "Which agent?"}))]
    frames = site.ask(me, "Why does it fail?")
    assert kinds(frames) == ["ask-user", "done"]
    assert (frames[0]["question"], frames[0]["callId"]) == ("Which agent?", "c0")


def test_a_client_that_was_cut_off_goes_on_where_it_was(
    site: Site, model: Evaluator, me: Headers
) -> None:
    go_on = threading.Event()

    def in_two_parts(exchange: Exchange) -> None:
        chat.begin(exchange)
        chat.send(exchange, chat.text_chunk("first "))
        go_on.wait(30)
        chat.send(exchange, chat.text_chunk("second "))
        chat.streamed()(exchange)

    model.script = [in_two_parts]
    response = site.open(me, "Hello?")
    site.work()
    seen: list[dict[str, Any]] = []
    for piece in response.response:
        seen += events_in(piece)
        if seen:
            break
    response.close()
    go_on.set()
    again = site.client.post(PATH, headers={**me, "Last-Event-ID": seen[-1]["id"]})
    assert text_of(seen) == "first "
    assert kinds(frames_of(again)) == ["text-delta", "done"]


def test_a_turn_is_of_the_person_who_asked(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    model.script = [chat.saying("Yes.")]
    last = site.ask(me, "Hello?")[-1]["id"]
    other = new_member(runtime, org, permission_set="standard")
    elsewhere = new_member(runtime, make_org(runtime), permission_set="standard")
    for headers in (other, elsewhere):
        refused = site.client.post(PATH, headers={**headers, "Last-Event-ID": last})
        assert refused.status_code == 404
    for malformed in ("x", f"{last}0", last.replace(":", ";")):
        refused = site.client.post(PATH, headers={**me, "Last-Event-ID": malformed})
        assert refused.status_code in (404, 200)


def test_without_a_client_the_turn_is_cancelled(
    site: Site,
    model: Evaluator,
    runtime: Runtime,
    org: Org,
    me: Headers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shared.assistant.frames.UNWATCHED_SECS", 0.5)

    def talk(exchange: Exchange) -> None:
        chat.begin(exchange)
        while not exchange.evaluator.stopping.wait(0.05):
            chat.send(exchange, chat.text_chunk("on and on "))

    model.script = [talk]
    response = site.open(me, "Hello?")
    site.work()
    began = time.monotonic()
    for piece in response.response:
        if events_in(piece):
            break
    response.close()
    wait_until(lambda: turns_of(runtime, org)[0].state == "cancelled", UNWATCHED_SECS)
    assert time.monotonic() - began < UNWATCHED_SECS
    # A person who hangs up has used what the model read and wrote until then.
    [turn] = turns_of(runtime, org)
    assert min(turn.input_tokens, turn.output_tokens) > 0


def test_the_turn_of_a_killed_worker_ends_with_an_error(
    site: Site, model: Evaluator, runtime: Runtime, org: Org, me: Headers
) -> None:
    response = site.open(me, "Hello?")
    with runtime.postgres.transaction() as session:
        # As a worker leaves it that was killed: running, and its lease over.
        session.execute(
            update(AssistantTurn)
            .where(AssistantTurn.org_id == org.uuid)
            .values(state="running", lease_expires_at=AssistantTurn.created_at)
        )
    site.work()
    [frame] = frames_of(response)
    assert (frame["type"], frame["message"]) == (
        "error",
        "The worker that answered stopped. Ask again.",
    )
    wait_until(lambda: turns_of(runtime, org)[0].state == "failed")


def test_a_worker_that_stops_ends_its_turn(site: Site, model: Evaluator, me: Headers) -> None:
    model.script = [server.hang]
    response = site.open(me, "Hello?")
    site.work()
    wait_until(lambda: bool(model.requests))
    site.stopping.set()
    assert "restarted" in frames_of(response)[-1]["message"]


def test_a_person_who_loses_access_gets_nothing_more(
    site: Site, model: Evaluator, runtime: Runtime, org: Org
) -> None:
    user_id = add_member(runtime, org, permission_set="standard")
    me = signed_in(runtime, user_id)

    def lose(exchange: Exchange) -> None:
        with runtime.postgres.transaction() as session:
            session.execute(
                update(Membership)
                .where(Membership.user_id == user_id)
                .values(permission_removed=["events:read", "queries:run"])
            )
        chat.calling(("list_events", {}), ("run_sql", {"sql": "SELECT 1"}))(exchange)

    model.script = [lose, chat.saying("No.")]
    frames = site.ask(me, "Hello?")
    assert [frame["ok"] for frame in frames if frame["type"] == "tool-end"] == [False, False]
    assert "events:read" in chat.results_in(model.requests[1])[0]
