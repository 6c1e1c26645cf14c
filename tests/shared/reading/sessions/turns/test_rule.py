"""What becomes a turn, and what was there before."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.reading.sessions.turns import rule
from shared.reading.sessions.turns.rule import cut, turns
from tests.shared.reading.sessions.turns.conversations import Said, said

WEATHER = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"city":"O"}'}}


def events(*sent: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"id": n, "ts": f"t{n}", "event_type": kind, "payload": {"agent_id": "a", **fields}}
        for n, (kind, fields) in enumerate(sent)
    ]


def all_turns(*sent: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return list(turns(events(*sent)))


def asked(*messages: object, **fields: object) -> tuple[str, dict[str, Any]]:
    return "model_request", {"messages": list(messages), **fields}


def answered(content: object = None, **fields: object) -> tuple[str, dict[str, Any]]:
    return "model_response", {"role": "assistant", "content": content, **fields}


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def assistant(content: object, **fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, **fields}


def words(*sent: tuple[str, dict[str, Any]]) -> list[Said]:
    return said(all_turns(*sent))


def test_the_copy_in_the_kit_can_run() -> None:
    """The module needs Python 3.9 and its standard library."""
    tree = ast.parse(Path(rule.__file__).read_text(), feature_version=(3, 9))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in imports
    }
    assert all(node.level == 0 for node in imports if isinstance(node, ast.ImportFrom))
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | {"__future__"}


def test_every_role() -> None:
    found = all_turns(
        ("agent_start", {"goal": "book"}),
        asked(user("Hi"), system="Be kind"),
        answered("Which day?", tool_calls=[WEATHER], reasoning="hm"),
        ("hook_triggered", {"hook_name": "policy", "hook_id": "h", "trigger_event": "PreToolUse"}),
        ("hook_completed", {"hook_name": "policy", "hook_id": "h", "outcome": "allow"}),
        ("tool_use", {"tool_name": "get", "tool_call_id": "c1", "input": {"city": "O"}}),
        ("tool_result", {"tool_call_id": "c1", "output": [1], "error": "no", "duration_ms": 5}),
        ("error", {"error_type": "Timeout", "message": "late"}),
        ("agent_end", {"outcome": "failed", "summary": "gave up", "error": "Timeout"}),
    )
    assert [turn["n"] for turn in found] == list(range(1, 9))
    assert [(turn["role"], turn["text"], turn["event_ids"]) for turn in found] == [
        ("goal", "book", [0]),
        ("system", "Be kind", [1]),
        ("user", "Hi", [1]),
        ("assistant", "Which day?", [2]),
        ("tool", "no", [2, 5, 6]),
        ("hook", "policy on PreToolUse → allow", [3, 4]),
        ("error", "Timeout: late", [7]),
        ("end", "failed: gave up\nTimeout", [8]),
    ]
    assert found[4] == {
        "n": 5,
        "role": "tool",
        "agent_id": "a",
        "ts": "t2",
        "text": "no",
        "reasoning": "",
        "tool": {
            "name": "get",
            "call_id": "c1",
            "input": '{"city":"O"}',
            "output": "[1]",
            "failed": True,
            "duration_ms": 5,
        },
        "event_ids": [2, 5, 6],
    }
    assert [turn["reasoning"] for turn in found if turn["reasoning"]] == ["hm"]


CALLED = ("tool", '{"city":"O"}', "18")
# A call and its output in the forms of providers and packages.
FORMS: dict[str, list[object]] = {
    "openai": [
        assistant(None, tool_calls=[WEATHER]),
        {"role": "tool", "tool_call_id": "c1", "content": "18"},
    ],
    "openai responses": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "get", "arguments": '{"city":"O"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "18"},
    ],
    "anthropic": [
        assistant([{"type": "tool_use", "id": "c1", "name": "get", "input": {"city": "O"}}]),
        user(
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "18"}],
                }
            ]
        ),
    ],
    "gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "get", "args": {"city": "O"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "get", "response": "18"}}]},
    ],
    "bedrock": [
        assistant([{"toolUse": {"toolUseId": "c1", "name": "get", "input": {"city": "O"}}}]),
        user([{"toolResult": {"toolUseId": "c1", "content": [{"text": "18"}]}}]),
    ],
    "langchain": [
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"name": "get", "args": {"city": "O"}, "id": "c1", "type": "tool_call"}],
        },
        {"type": "tool", "content": "18", "tool_call_id": "c1"},
    ],
    "opentelemetry": [
        {
            "role": "assistant",
            "parts": [
                {"type": "tool_call", "id": "c1", "name": "get", "arguments": {"city": "O"}},
                {"type": "reasoning", "content": "hm"},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "18"}]},
    ],
    "vercel": [
        assistant(
            [{"type": "tool-call", "toolCallId": "c1", "toolName": "get", "args": {"city": "O"}}]
        ),
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "get",
                    "output": {"type": "text", "value": "18"},
                }
            ],
        },
    ],
    "an output without an id": [
        assistant("", tool_calls=[WEATHER]),
        {"role": "tool", "content": "18"},
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_calls(form: str) -> None:
    """A history in any form has the call that events told before, and tells it without them."""
    used = ("tool_use", {"tool_name": "get", "tool_call_id": "c1", "input": {"city": "O"}})
    ended = ("tool_result", {"tool_call_id": "c1", "output": "18"})
    wanted = [("user", "Hi"), CALLED, ("assistant", "18 it is")]
    history = asked(user("Hi"), *FORMS[form])
    last = answered("18 it is")
    assert words(history, last) == wanted
    assert words(asked(user("Hi")), used, ended, history, last) == wanted
    call = answered(tool_calls=[WEATHER])
    assert words(asked(user("Hi")), call, used, ended, history, last) == wanted
    assert words(asked(user("Hi")), used, ended, call, history, last, history) == wanted


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Hi", [("user", "Hi")]),
        ([["human", "Hi"]], [("user", "Hi")]),
        ([[{"type": "human", "data": {"content": "Hi"}}]], [("user", "Hi")]),
        ([{"id": ["x", "HumanMessage"], "kwargs": {"content": "Hi"}}], [("user", "Hi")]),
        ('[{"role": "user", "content": "Hi"}]', [("user", "Hi")]),
        ('{"city": "O"}', [("user", '{"city": "O"}')]),
        (
            {"system": "Be kind", "messages": [user("Hi")]},
            [("system", "Be kind"), ("user", "Hi")],
        ),
        ([{"role": "developer", "content": "Be kind"}], [("system", "Be kind")]),
        (
            [
                user(
                    [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": "data:…"}]
                )
            ],
            [("user", "Look\n[image_url]")],
        ),
        ([user([{"type": "form", "n": 1}])], [("user", '{"type":"form","n":1}')]),
        ([{"role": "context", "turns": 2}, user(" "), None, user(None)], []),
    ],
)
def test_forms_of_messages(value: object, found: list[Said]) -> None:
    assert words(("model_request", {"messages": value})) == found


def test_a_person_and_a_request_say_the_same_once() -> None:
    said_it = ("human_input", {"response": "Hi"})
    wait = ("human_wait", {"prompt": "Hello", "options": ["a", "b"]})
    assert words(
        said_it, asked(user("Hi")), answered("Hello"), wait, ("human_input", {"response": "a"})
    ) == [("user", "Hi"), ("assistant", "Hello"), ("user", "a")]
    assert words(wait, said_it, asked(assistant("Hello"), user("Hi"))) == [
        ("assistant", "Hello\n- a\n- b"),
        ("user", "Hi"),
    ]


def test_a_compacted_history() -> None:
    """A summary in place of the beginning is new, and what follows it is not."""
    history = [user("one"), assistant("1"), user("two"), assistant("2"), user("ok")]
    found = words(
        asked(*history),
        answered("3"),
        asked(user("one and two, in short"), *history[3:], assistant("3"), user("ok")),
        answered("4"),
        asked(
            user("one and two, in short"),
            *history[3:],
            assistant("3"),
            user("ok"),
            assistant("4"),
            user("ok"),
        ),
    )
    assert [text for _, text in found] == [
        *("one", "1", "two", "2", "ok", "3", "one and two, in short", "ok", "4", "ok"),
    ]


def test_a_request_that_is_sent_again_has_nothing_new() -> None:
    first = asked(user("Hi"), request_id="r1")
    failed = answered(error="overloaded", error_type="Busy", request_id="r1")
    wanted = [("user", "Hi"), ("error", "Busy: overloaded"), ("assistant", "Hello")]
    assert words(first, failed, asked(user("Hi")), answered("Hello")) == wanted
    # In parallel, and while the model uses tools.
    assert words(first, first, answered("A"), answered("B")) == [
        *(("user", "Hi"), ("assistant", "A"), ("assistant", "B"))
    ]
    used = ("tool_use", {"tool_name": "get", "tool_call_id": "c1", "input": {"city": "O"}})
    ended = ("tool_result", {"tool_call_id": "c1", "output": "18"})
    assert words(first, answered("I look"), used, ended, first) == [
        *(("user", "Hi"), ("assistant", "I look"), CALLED)
    ]


def test_requests_without_history_may_ask_the_same_again() -> None:
    asks, says = asked(user("yes")), answered("Done.")
    assert words(asks, says, asks, says) == [("user", "yes"), ("assistant", "Done.")] * 2


def test_calls_for_other_purposes_do_not_repeat_the_conversation() -> None:
    """A router reads the question before the agent does, and a title is made of it afterwards."""

    def router(text: str) -> list[tuple[str, dict[str, Any]]]:
        return [asked(user(text), system="Which topic?"), answered("billing")]

    one, two = user("My bill?"), user("And now?")
    found = words(
        *router("My bill?"),
        asked(one, system="Help"),
        answered("It is 5."),
        asked(one, system="Make a title"),
        answered("Bills"),
        *router("And now?"),
        asked(one, assistant("It is 5."), two, system="Help"),
        answered("Nothing."),
    )
    assert [text for role, text in found if role == "user"] == ["My bill?", "And now?"]
    assert [text for role, text in found if role == "system"] == [
        *("Which topic?", "Help", "Make a title")
    ]


def test_ids_that_come_again_are_other_calls() -> None:
    def call(city: str) -> list[tuple[str, dict[str, Any]]]:
        called = {"id": "call_0", "name": "get", "arguments": {"city": city}}
        return [
            answered(tool_calls=[called]),
            ("tool_use", {"tool_call_id": "call_0", "tool_name": "get", "input": {"city": city}}),
            ("tool_result", {"tool_call_id": "call_0", "output": city}),
        ]

    assert words(*call("O"), *call("P"), *call("O")) == [
        ("tool", f'{{"city":"{city}"}}', city) for city in "OPO"
    ]


def test_a_tool_without_the_id_of_the_model() -> None:
    """The span of a tool has an id of its own, and what it was given as text."""
    otel = {"otel": {"span_id": "ab12"}}
    found = all_turns(
        asked(user("Hi")),
        answered(tool_calls=[WEATHER]),
        ("tool_use", {"tool_call_id": "ab12", "tool_name": "get", "input": "city=O", **otel}),
        ("tool_result", {"tool_call_id": "ab12", "tool_name": "get", "output": "18", **otel}),
        asked(user("Hi"), *FORMS["openai"]),
    )
    assert said(found) == [("user", "Hi"), CALLED]
    assert found[1]["tool"]["call_id"] == "c1"


def test_results_of_parallel_calls_come_in_any_order() -> None:
    calls = [{"id": name, "name": "get", "arguments": name} for name in "xyz"]
    results = [("tool_result", {"tool_call_id": name, "output": f"{name}!"}) for name in "zxy"]
    found = words(answered("I look", tool_calls=calls), *results, answered("Done."))
    assert found == [
        ("assistant", "I look"),
        *(("tool", name, f"{name}!") for name in "xyz"),
        ("assistant", "Done."),
    ]


def test_the_words_of_an_answer_come_before_its_calls() -> None:
    """A tool may start while the answer goes on."""
    used = ("tool_use", {"tool_call_id": "c1", "tool_name": "get", "input": {"city": "O"}})
    ended = ("tool_result", {"tool_call_id": "c1", "output": "18"})
    assert words(used, answered("I look", tool_calls=[WEATHER]), ended) == [
        ("assistant", "I look"),
        CALLED,
    ]


def test_messages_that_are_events() -> None:
    """The log records of a call: its history each time, and its answer twice."""

    def one(role: str, content: str, request: str, **fields: object) -> tuple[str, dict[str, Any]]:
        return "model_message", {
            "role": role,
            "content": content,
            "request_id": request,
            **fields,
        }

    found = words(
        one("user", "Hi", "r1"),
        one("assistant", "Hello", "r1", stop_reason="stop"),
        answered("Hello", request_id="r1"),
        one("user", "Hi", "r2"),
        one("assistant", "Hello", "r2"),
        one("user", "Bye", "r2"),
        (
            "model_content",
            {
                "request_id": "r3",
                "messages": [user("Hi"), assistant("Hello"), user("Bye")],
                "role": "assistant",
                "content": "Hello",
            },
        ),
        ("note", {"role": "user", "content": "Hi"}),
        ("log", {"body": "Hi"}),
    )
    assert found == [
        *(("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")),
        *(("assistant", "Hello"), ("user", "Hi")),
    ]


def test_an_open_call_holds_a_bounded_number_of_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MAX_WAITING_TURNS", 3)
    used = ("tool_use", {"tool_call_id": "c1", "tool_name": "get", "input": "in"})
    ended = ("tool_result", {"tool_call_id": "c1", "tool_name": "get", "output": "out"})
    people = [("human_input", {"response": str(n)}) for n in range(4)]
    assert words(used, *people[:2], ended)[0] == ("tool", "in", "out")
    assert words(used, *people, ended) == [
        ("tool", "in", ""),
        *(("user", str(n)) for n in range(4)),
        ("tool", "", "out"),
    ]


def test_cutting() -> None:
    [turn] = all_turns(
        ("tool_use", {"tool_call_id": "c1", "tool_name": "get", "input": "é" * 200}),
        ("tool_result", {"tool_call_id": "c1", "output": "x" * 300, "error": "y"}),
    )
    shown = cut(turn, 255)
    assert shown.keys() == {
        *("n", "role", "agent_id", "ts", "text", "tool", "event_ids", "cut"),
    }
    assert (shown["tool"]["input"], shown["tool"]["output"]) == ("é" * 127, "x" * 255)
    assert (shown["text"], shown["cut"]) == ("y", 2 * 73 + 45)
    assert cut(turn, 400)["cut"] == 0
    assert turn["tool"]["output"] == "x" * 300


ODD: list[object] = [
    *(None, True, 0, -1.5, 1e400, "", "\ud800", "{", "[[[", [], {}, [[]], [{}], {"role": []}),
    *({"type": []}, {"content": {"parts": {}}}, {"message": {"message": {}}}, {"function": 1}),
    *({"role": "assistant", "tool_calls": [None, 1, "x", {"id": 1}]}, {"type": "tool_use"}),
    *({"type": "tool_result", "content": {"value": {}, "type": None}}, {"toolCallId": None}),
]
FIELDS = (
    *("agent_id", "goal", "outcome", "summary", "error", "messages", "system", "content", "role"),
    *("tool_calls", "reasoning", "tool_name", "tool_call_id", "input", "output", "duration_ms"),
    *("hook_name", "hook_id", "prompt", "options", "response", "message", "error_type", "otel"),
    *("request_id", "stop_reason"),
)
TYPES = (
    *("agent_start", "agent_end", "error", "context_compacted", "human_wait", "human_input"),
    *("hook_triggered", "hook_completed", "model_request", "model_response", "model_message"),
    *("model_content", "tool_use", "tool_result", "note"),
)


def test_odd_values_cost_nothing_but_themselves() -> None:
    sent = [
        (kind, {name: value, **({"role": "user"} if kind == "note" and name != "role" else {})})
        for kind in TYPES
        for name in FIELDS
        for value in ODD
    ]
    last = ("human_input", {"response": "still here"})
    found = [cut(turn, 256) for turn in turns([*events(*sent, last), {"payload": []}])]
    assert json.loads(json.dumps(found)) == found
    assert ("user", "still here") in said(found)
    "".join(turn["text"] for turn in found).encode()
