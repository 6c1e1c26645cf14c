"""A chat model that knows the questions: it calls the tool of each, and says what it read."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.assistant.questions import QUESTIONS, Question

_FENCED = re.compile(r"<data-(\w+)>(.*)</data-\1>", re.DOTALL)
_BY_TEXT = {question.text: question for question in QUESTIONS}
# Answers a question that it does not know: the benchmark measures the way, not the answer.
SLOW = "Count slowly."
_SLOW_WORDS, _SLOW_SECS = 100, 0.1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for delta in _answer(body["messages"]):
                self._send({"choices": [{"index": 0, "delta": delta}]})
            self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # the turn was cancelled

    def _send(self, chunk: object) -> None:
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base's name
        """Logs nothing."""


def _answer(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    asked = [one["content"] for one in messages if one["role"] == "user"][-1]
    results = [one["content"] for one in messages if one["role"] == "tool"]
    if asked == SLOW:
        for number in range(_SLOW_WORDS):
            yield {"content": f"word{number} {time.monotonic():.6f} "}
            time.sleep(_SLOW_SECS)
        return
    question = _BY_TEXT[asked]
    if results:
        yield from _said(question, results[-1])
        return
    function = {"name": question.tool, "arguments": json.dumps(question.arguments)}
    yield {"tool_calls": [{"index": 0, "id": "c0", "function": function}]}


def _said(question: Question, result: str) -> Iterator[dict[str, Any]]:
    match = _FENCED.search(result)
    found = json.loads(match[2] if match else result)
    for word in ("It", "is", f"{question.pick(found)}."):
        yield {"content": f"{word} "}


@contextmanager
def scripted_model() -> Iterator[str]:
    """Runs the model on a free port of loopback; yields its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
