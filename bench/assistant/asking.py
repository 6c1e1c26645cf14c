"""Questions to a deployment, and how soon the frames of the answers come."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from bench.ui.member import Member


@dataclass(frozen=True)
class Answered:
    """An answer: its text, its last frame, and the seconds that it took."""

    text: str
    last: dict[str, Any]
    secs: float


def ask(member: Member, question: str) -> Answered:
    """Asks one question and reads the answer to its end."""
    began = time.perf_counter()
    said, last = [], {}
    for _, frame in frames(member, question):
        if frame["type"] == "text-delta":
            said.append(frame["text"])
        last = frame
    return Answered("".join(said), last, time.perf_counter() - began)


def frames(member: Member, question: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yields the frames of an answer, each with the monotonic time of its arrival."""
    address = urlsplit(member.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    body = {"messages": [{"role": "user", "content": {"text": question}}]}
    headers = {"Authorization": f"Bearer {member.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/agent/chat", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"{response.status}: {response.read()!r}")
        for line in response:
            if line.startswith(b"data: "):
                yield time.monotonic(), json.loads(line.removeprefix(b"data: "))
    finally:
        connection.close()
