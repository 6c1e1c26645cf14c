"""A scripted chat model: answers for `running_evaluator`, and what the requests of a turn held."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.evaluator import Answer, Exchange, Received

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20}


def streamed(*deltas: dict[str, Any], reason: str = "stop", usage: bool = True) -> Answer:
    """Returns an answer of these pieces, which ends as it should."""

    def answer(exchange: Exchange) -> None:
        begin(exchange)
        for delta in deltas:
            send(exchange, {"choices": [{"index": 0, "delta": delta}]})
        send(exchange, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if usage:
            send(exchange, {"choices": [], "usage": _USAGE})
        exchange.send_raw(b"data: [DONE]\n\n")

    return answer


def saying(text: str, usage: bool = True) -> Answer:
    """Returns an answer of this text, word by word."""
    return streamed(*({"content": word} for word in _words(text)), usage=usage)


def calling(*calls: tuple[str, dict[str, Any] | str]) -> Answer:
    """Returns an answer that calls tools; the arguments of each come in two pieces."""
    deltas: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        middle = len(text) // 2
        head = {"name": name, "arguments": text[:middle]}
        deltas.append(_call({"index": index, "id": f"c{index}", "function": head}))
        deltas.append(_call({"index": index, "function": {"arguments": text[middle:]}}))
    return streamed(*deltas, reason="tool_calls")


def by_results(answer: Callable[[Sequence[str]], Answer]) -> Answer:
    """Returns an answer that depends on the results of the tools so far."""

    def choose(exchange: Exchange) -> None:
        answer(results_in(exchange.received))(exchange)

    return choose


def results_in(request: Received) -> list[str]:
    """Returns the results of tools in a request to the model."""
    messages = json.loads(request.body)["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def begin(exchange: Exchange) -> None:
    """Sends the head of a stream."""
    exchange.send_raw(_HEAD)


def send(exchange: Exchange, chunk: object) -> None:
    """Sends one chunk."""
    exchange.send_raw(b"data: " + json.dumps(chunk).encode() + b"\n\n")


def text_chunk(text: str) -> dict[str, Any]:
    """Returns a chunk with a piece of text."""
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def _call(part: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [part]}


def _words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]
