"""The answer of a model, in the form that the client asks for: OpenAI's or Anthropic's.

An answer for `running_evaluator`, for agents that would otherwise call a paid service.
"""

import json
from typing import Any

from tests.support import chat
from tests.support.evaluator import Answer, Exchange, reply

SAYS = "Sunny."
_MODEL = "gpt-5-mini"


def answer(exchange: Exchange) -> None:
    """Answers one request."""
    path = exchange.received.path.partition("?")[0]
    request = json.loads(exchange.received.body or b"{}")
    made = _ANSWERS.get(path.rpartition("/v1")[2])
    (made(request) if made else reply(404, {}))(exchange)


def _completion(request: dict[str, Any]) -> Answer:
    """Chat completions of OpenAI."""
    if request.get("stream"):
        return chat.saying(SAYS)
    message = {"role": "assistant", "content": SAYS}
    return reply(
        200,
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": _MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        },
        {"Content-Type": "application/json"},
    )


def _response(_request: dict[str, Any]) -> Answer:
    """Responses of OpenAI, as Codex reads them."""
    part = {"type": "output_text", "text": SAYS, "annotations": []}
    item = {"type": "message", "id": "m1", "role": "assistant", "content": [part]}
    details = {"input_tokens_details": None, "output_tokens_details": None}
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, **details}
    return _streamed(
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
    )


def _message(request: dict[str, Any]) -> Answer:
    """Messages of Anthropic."""
    text = {"type": "text", "text": SAYS}
    usage = {"input_tokens": 10, "output_tokens": 2}
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [text],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
    if not request.get("stream"):
        return reply(200, message, {"Content-Type": "application/json"})
    delta = {"type": "text_delta", "text": SAYS}
    return _streamed(
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    )


def _streamed(*events: dict[str, Any]) -> Answer:
    """Returns an answer of events with their names."""

    def send(exchange: Exchange) -> None:
        chat.begin(exchange)
        for event in events:
            exchange.send_raw(b"event: " + event["type"].encode() + b"\n")
            chat.send(exchange, event)

    return send


_ANSWERS = {
    "/chat/completions": _completion,
    "/responses": _response,
    "/messages": _message,
}
