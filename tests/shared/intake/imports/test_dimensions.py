"""Dimensions that the sender of a file names, for events that have none themselves."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.intake.imports.dimensions import GivenDimensions, last_part, repository_of
from shared.intake.redaction.rules import Redactor
from tests.shared.intake.imports import test_atif, test_claude, test_codex, test_otlp
from tests.support.transcripts import lines_of, told

GIVEN = GivenDimensions("zoe", "7", ("a", "b"), {"plan": "pro", "branch": "topic"})
SPAN = test_otlp.span(1, gen_ai__operation__name="chat", session__id="s")
NOTE = {"session_id": "s", "timestamp": "2026-11-18T09:00:00Z", "type": "note"}
FILES: dict[str, Callable[[], bytes]] = {
    "agenteye": lambda: lines_of(NOTE, {**NOTE, "type": "other"}),
    "atif": lambda: json.dumps(test_atif.document(agent={"name": "a"})).encode(),
    "claude": lambda: lines_of(test_claude.said(1, "go")),
    "codex": lambda: lines_of(test_codex.META, test_codex.line(1, "compacted", message="x")),
    "otlp": lambda: lines_of(test_otlp.request(SPAN)),
}


def fields_of(event: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(event.get(k) for k in ("user_id", "agent_version", "tags", "attributes"))


@pytest.mark.parametrize("form", FILES)
def test_events_without_dimensions_get_them_and_are_the_same_events(form: str) -> None:
    text = FILES[form]()
    plain, found = told(text, form=form), told(text, form=form, given=GIVEN)
    assert plain.converted.batch.ids == found.converted.batch.ids
    assert found.events
    for before, event in zip(plain.events, found.events, strict=True):
        assert fields_of(before) == (None, None, None, None)
        expected = ("zoe", "7", ["a", "b"], {"plan": "pro", "branch": "topic"})
        assert fields_of(event) == expected
        assert before.items() <= event.items()


@pytest.mark.parametrize("form", FILES)
def test_without_any_nothing_changes(form: str) -> None:
    text = FILES[form]()
    batch = told(text, form=form, given=GivenDimensions()).converted.batch
    assert batch.payloads == told(text, form=form).converted.batch.payloads


def test_own_values_of_transcripts_count() -> None:
    own = test_claude.said(1, "go", version="2", gitBranch="main", cwd="/srv/notes")
    attributes = {"plan": "pro", "branch": "main", "repository": "notes"}
    for event in told(lines_of(own), form="claude", given=GIVEN).events:
        assert fields_of(event) == ("zoe", "2", ["a", "b"], attributes)


def test_own_values_of_spans_count() -> None:
    own = test_otlp.span(
        1,
        gen_ai__operation__name="chat",
        user__id="ann",
        app__version="2",
        tag__tags="c",
        langsmith__metadata__plan="free",
    )
    for event in told(lines_of(test_otlp.request(own)), given=GIVEN).events:
        assert fields_of(event) == ("ann", "2", ["c"], {"plan": "free", "branch": "topic"})


def agenteye(given: GivenDimensions = GIVEN, **fields: Any) -> dict[str, Any]:
    [event] = told(lines_of({**NOTE, **fields}), form="agenteye", given=given).events
    return event


@pytest.mark.parametrize("nothing", ["", None, [], {}])
def test_an_empty_value_of_an_event_is_none(nothing: Any) -> None:
    event = agenteye(user_id=nothing, agent_version=nothing, release=nothing, tags=nothing)
    assert fields_of(event)[:3] == ("zoe", "7", ["a", "b"])


def test_own_values_of_events_count() -> None:
    assert agenteye(user_id="ann")["user_id"] == "ann"
    assert agenteye(user_id=7)["user_id"] == 7
    assert agenteye(agent_version="2")["agent_version"] == "2"
    released = agenteye(release="2")
    assert ("agent_version" in released, released["release"]) == (False, "2")
    assert agenteye(tags="c")["tags"] == "c"
    assert agenteye(attributes={"plan": "free"})["attributes"] == {
        "plan": "free",
        "branch": "topic",
    }
    assert agenteye(metadata={"plan": "free"})["attributes"] == {"branch": "topic"}
    assert "attributes" not in agenteye(metadata={"plan": 1, "branch": None})
    assert agenteye(attributes=None)["attributes"] == {"plan": "pro", "branch": "topic"}
    assert agenteye(attributes="text")["attributes"] == "text"


@pytest.mark.parametrize("kind", ["agent_pause", "agent_resume", "human_pause", "human_interrupt"])
def test_the_user_is_not_named_as_the_person_who_acted(kind: str) -> None:
    assert "user_id" not in agenteye(type=kind)
    assert agenteye(type=kind, user_id="ann")["user_id"] == "ann"
    aborted = test_codex.line(1, "event_msg", "turn_aborted")
    [event] = told(lines_of(test_codex.META, aborted), given=GIVEN).events
    assert (event["type"], fields_of(event)[:2]) == ("human_interrupt", (None, "7"))


def test_bytes_of_an_event_that_lacks_nothing_stay() -> None:
    line = b'{"session_id":"s", "timestamp":"2026-11-18T09:00:00Z","type":"note","user_id" : 7.0}'
    [payload] = told(
        line + b"\n", form="agenteye", given=GivenDimensions("zoe")
    ).converted.batch.payloads
    assert payload == line


@pytest.mark.parametrize("form", FILES)
def test_a_redacted_key_stays_empty(form: str) -> None:
    redactor = Redactor(["user_id", "Plan"])
    for event in told(FILES[form](), form=form, given=GIVEN, redactor=redactor).events:
        assert event["user_id"] == "[redacted]"
        assert event["attributes"] == {"plan": "[redacted]", "branch": "topic"}


@pytest.mark.parametrize("form", FILES)
def test_no_event_becomes_too_large(form: str) -> None:
    text = FILES[form]()
    plain = told(text, form=form).converted.batch
    most = max(map(len, plain.payloads)) + 200
    given = GivenDimensions("z" * 256)
    found = told(text, form=form, given=given, max_event_bytes=most).converted
    assert (found.skipped, found.batch.ids) == (0, plain.ids)
    assert max(map(len, found.batch.payloads)) <= most


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/shop/notes.git", "shop/notes"),
        ("https://github.com/shop/notes", "shop/notes"),
        ("https://github.com/shop/notes.git/", "shop/notes"),
        ("https://zoe:secret@github.com/shop/notes.git", "shop/notes"),
        ("https://secret@github.com:8443/shop/notes?token=secret#secret", "shop/notes"),
        ("https://gitlab.com/group/shop/notes.git", "shop/notes"),
        ("ssh://git@github.com:22/shop/notes.git", "shop/notes"),
        ("git@github.com:shop/notes.git", "shop/notes"),
        ("git@github.com:/srv/shop/notes", "shop/notes"),
        ("github.com:shop/notes?token=secret", "shop/notes"),
        ("https://github.com/notes.git", None),
        ("https://zoe:secret@github.com", None),
        ("zoe:secret@github.com/notes", None),
        ("git@github.com:notes.git", None),
        ("/srv/shop/notes.git", None),
        ("file:///srv/shop/notes.git", None),
        ("C:\\\\shop\\\\notes", None),
        ("https://[::1/shop/notes", None),
        ("[redacted]", None),
        ("", None),
    ],
)
def test_the_name_of_a_repository(address: str, name: str | None) -> None:
    assert repository_of(address) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("/srv/notes", "notes"), ("/srv/notes/", "notes"), ("C:\\\\work\\\\shop", "shop")),
        *(("/", ""), ("", "")),
    ],
)
def test_the_last_part_of_a_path(path: str, name: str) -> None:
    assert last_part(path) == name
