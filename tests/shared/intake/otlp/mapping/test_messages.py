"""The messages of all senders have one shape."""

import json
from typing import Any

import pytest

from shared.intake.otlp.mapping.messages import last_text, read_messages
from shared.intake.otlp.mapping.parts import Message
from tests.support.otlp_spans import ASKS, CALL, CALLS, FUNCTION, RESULT, SAYS

SHAPES: list[tuple[str, Any, list[dict[str, Any]]]] = [
    ("semconv", [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}], ASKS),
    (
        "semconv call",
        [{"role": "assistant", "parts": [{"type": "tool_call", **CALL}], "name": None}],
        CALLS,
    ),
    (
        "semconv result",
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "18"}]}],
        RESULT,
    ),
    (
        "semconv result with a name",
        [
            {
                "role": "tool",
                "name": "search",
                "parts": [{"type": "tool_call_response", "id": "c1", "response": "18"}],
            }
        ],
        [{**RESULT[0], "name": "search"}],
    ),
    (
        "two results in one message with a name",
        [
            {
                "role": "tool",
                "name": "search",
                "parts": [
                    {"type": "tool_call_response", "id": "c1", "response": "18"},
                    {"type": "tool_call_response", "id": "c2", "name": "read", "response": "19"},
                ],
            }
        ],
        [
            {**RESULT[0], "name": "search"},
            {"role": "tool", "tool_call_id": "c2", "content": "19", "name": "read"},
        ],
    ),
    (
        "the name of a person is not that of a tool",
        [
            {
                "role": "user",
                "name": "ann",
                "parts": [{"type": "tool_call_response", "id": "c1", "response": "18"}],
            }
        ],
        RESULT,
    ),
    (
        "pydantic-ai result",
        [{"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "18"}]}],
        RESULT,
    ),
    (
        "semconv reasoning",
        [
            {
                "role": "assistant",
                "parts": [
                    {"type": "reasoning", "content": "Hm"},
                    {"type": "text", "content": "Hello"},
                ],
            }
        ],
        [{**SAYS[0], "reasoning": "Hm"}],
    ),
    (
        "OpenInference contents",
        [
            {
                "message": {
                    "role": "user",
                    "contents": [{"message_content": {"type": "text", "text": "Hi"}}],
                }
            }
        ],
        ASKS,
    ),
    (
        "OpenInference call",
        [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"tool_call": {"id": "c1", "function": FUNCTION}}],
                }
            }
        ],
        CALLS,
    ),
    (
        "OpenAI",
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
            },
            {"role": "tool", "content": "18", "tool_call_id": "c1"},
        ],
        CALLS + RESULT,
    ),
    (
        "OpenAI request",
        {"model": "m", "messages": ASKS, "tools": [FUNCTION], "temperature": 0.2},
        ASKS,
    ),
    (
        "OpenAI answer",
        {
            "id": "x",
            "choices": [{"index": 0, "finish_reason": "stop", "message": SAYS[0]}],
            "usage": {},
        },
        SAYS,
    ),
    ("completion", {"choices": [{"text": "Hello", "finish_reason": "stop"}]}, SAYS),
    (
        "Responses request",
        {"instructions": "Be terse", "input": "Hi"},
        [{"role": "system", "content": "Be terse"}, *ASKS],
    ),
    (
        "Responses items",
        {
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", **FUNCTION},
                {"type": "function_call_output", "call_id": "c1", "output": "18"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Hello"}],
                },
            ]
        },
        ASKS + CALLS + RESULT + SAYS,
    ),
    (
        "Anthropic request",
        {
            "system": [{"type": "text", "text": "Be terse"}],
            "messages": [
                {"role": "user", "content": "Hi"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": [{"type": "text", "text": "18"}],
                        }
                    ],
                },
            ],
        },
        [{"role": "system", "content": "Be terse"}, *ASKS, *CALLS, *RESULT],
    ),
    (
        "Anthropic answer",
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hello"}],
            "stop_reason": "end_turn",
        },
        [{**SAYS[0], "reasoning": "Hm"}],
    ),
    ("parts only", [{"type": "text", "text": "Hi"}], ASKS),
    (
        "Vercel",
        [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool-call",
                        "toolCallId": "c1",
                        "toolName": "search",
                        "args": {"q": "x"},
                    }
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "toolName": "search",
                        "output": {"type": "text", "value": "18"},
                    }
                ],
            },
        ],
        [*ASKS, *CALLS, {**RESULT[0], "name": "search"}],
    ),
    ("Vercel calls", [{"toolCallId": "c1", "toolName": "search", "input": '{"q": "x"}'}], CALLS),
    (
        "Vercel prompt",
        {"system": "Be terse", "prompt": "Hi"},
        [{"role": "system", "content": "Be terse"}, *ASKS],
    ),
    ("LangChain pairs", {"messages": [["user", "Hi"], ["ai", "Hello"]]}, ASKS + SAYS),
    (
        "LangChain messages",
        {
            "messages": [
                [
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["m", "HumanMessage"],
                        "kwargs": {"content": "Hi", "type": "human"},
                    }
                ]
            ]
        },
        ASKS,
    ),
    (
        "LangChain class",
        [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["m", "AIMessageChunk"],
                "kwargs": {"content": "Hello", "id": "run-1"},
            }
        ],
        SAYS,
    ),
    (
        "LangChain data",
        [
            {
                "type": "ai",
                "data": {
                    "content": "",
                    "tool_calls": [
                        {"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
                    ],
                },
            },
            {
                "type": "tool",
                "data": {"content": "18", "type": "tool", "id": None, "tool_call_id": "c1"},
            },
        ],
        CALLS + RESULT,
    ),
    (
        "LangChain twice",
        [
            {
                "type": "ai",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}
                ],
                "tool_calls": [{"name": "search", "args": {"q": "x"}, "id": "c1"}],
            }
        ],
        CALLS,
    ),
    (
        "LangChain generations",
        {
            "generations": [
                [
                    {
                        "text": "Hello",
                        "type": "ChatGeneration",
                        "message": {
                            "lc": 1,
                            "id": ["AIMessage"],
                            "kwargs": {"content": "Hello", "type": "ai"},
                        },
                    }
                ]
            ]
        },
        SAYS,
    ),
    ("LangChain completion", {"generations": [[{"text": "Hello", "type": "Generation"}]]}, SAYS),
    (
        "LangChain result",
        {"type": "LLMResult", "generations": [[{"text": "Hello", "type": "Generation"}]]},
        SAYS,
    ),
    (
        "LangChain result of a call that failed",
        {
            "type": "LLMResult",
            "generations": [[{"message": {"kwargs": {"type": "ai", "content": ""}}, "text": ""}]],
        },
        [],
    ),
    (
        "Gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hi"}]},
                {
                    "role": "model",
                    "parts": [{"functionCall": {"id": "c1", "name": "search", "args": {"q": "x"}}}],
                },
            ]
        },
        ASKS + CALLS,
    ),
    (
        "Gemini answer",
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finishReason": "STOP"}
            ]
        },
        SAYS,
    ),
    (
        "Bedrock",
        [
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "x"}}}
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "18"}]}}],
            },
        ],
        CALLS + RESULT,
    ),
    (
        "legacy call",
        [{"role": "assistant", "function_call": FUNCTION}],
        [{"role": "assistant", "tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}],
    ),
    ("JSON of parts", [{"role": "user", "content": '[{"type": "text", "text": "Hi"}]'}], ASKS),
    (
        "JSON as text",
        [{"role": "user", "content": '{"a": 1}'}],
        [{"role": "user", "content": '{"a": 1}'}],
    ),
    ("text", "Hi", ASKS),
    ("texts", ["Hi", "there"], [{"role": "user", "content": "Hi\nthere"}]),
    ("an object", {"question": "Hi"}, [{"role": "user", "content": [{"question": "Hi"}]}]),
    (
        "an image",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "image_url", "image_url": {"url": "x"}},
                ],
            }
        ],
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "image_url", "image_url": {"url": "x"}},
                ],
            }
        ],
    ),
    ("a name", [{"role": "user", "name": "ann", "content": "Hi"}], [{**ASKS[0], "name": "ann"}]),
    (
        "reasoning",
        [{"role": "assistant", "content": "Hello", "reasoning_content": "Hm"}],
        [{**SAYS[0], "reasoning": "Hm"}],
    ),
    ("developer", [{"role": "developer", "content": "x"}], [{"role": "developer", "content": "x"}]),
]


@pytest.mark.parametrize(
    ("value", "messages"), [case[1:] for case in SHAPES], ids=[case[0] for case in SHAPES]
)
def test_a_shape(value: Any, messages: list[dict[str, Any]]) -> None:
    assert read_messages(value, "user").messages == messages or (
        # Forms that only answers have are read with the role of an answer.
        read_messages(value, "assistant").messages == messages
    )
    assert read_messages(json.dumps(value), "user") == read_messages(value, "user")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"choices": [{"finish_reason": "stop", "message": {"content": "a"}}]}, "stop"),
        ({"role": "assistant", "content": "a", "stop_reason": "end_turn"}, "end_turn"),
        ({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}, "STOP"),
        ([{"role": "assistant", "parts": [], "finish_reason": "length"}], "length"),
        (
            {
                "generations": [
                    [
                        {
                            "message": {"lc": 1, "kwargs": {"content": "a"}},
                            "generation_info": {"finish_reason": "stop"},
                        }
                    ]
                ]
            },
            "stop",
        ),
        (
            [
                {
                    "type": "ai",
                    "data": {"content": "a", "response_metadata": {"finish_reason": "stop"}},
                }
            ],
            "stop",
        ),
        ([{"role": "assistant", "content": "a", "finish_reason": 7}], None),
    ],
)
def test_a_message_tells_why_the_model_stopped(value: Any, reason: str | None) -> None:
    assert read_messages(value, "assistant").stop_reason == reason


def test_the_last_text_of_a_role() -> None:
    messages: list[Message] = [
        *ASKS,
        *SAYS,
        {"role": "user", "content": [{"type": "image"}]},
        *RESULT,
    ]
    assert last_text(messages, "user") == "Hi"
    assert last_text(messages, "assistant") == "Hello"
    assert last_text(messages, "system") is None
    with_image = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}]
    assert last_text(with_image, "user") == "a"
