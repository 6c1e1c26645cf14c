"""A site with the assistant: the web application, and a worker in threads of the test."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient

from devstack import DevStack
from shared.assistant.desk import Desk
from shared.foundation.deployment.runtime import Runtime
from shared.reading.queries.run import QueryRunner
from tests.support.app import Headers
from tests.support.evaluator import Evaluator, running_evaluator
from tests.support.people import new_member
from tests.support.runtime import Org, connected, settings_for
from web.app import create_app
from workers.assistant.model import ChatModel

KEY = "sk-of-the-assistant-0123456789"
PATH = "/v1/agent/chat"


@dataclass
class Site:
    """The parts of a site, and the questions of its people."""

    runtime: Runtime
    client: FlaskClient
    desk: Desk
    stopping: threading.Event
    threads: list[threading.Thread] = field(default_factory=list)

    def work(self) -> None:
        """Lets the worker answer everything that waits, in a thread."""
        thread = threading.Thread(target=self.desk.run)
        thread.start()
        self.threads.append(thread)

    def open(self, headers: Headers, text: str, **fields: Any) -> Any:
        """Asks a question; returns the response with its frames unread."""
        body = {"messages": [{"role": "user", "content": {"text": text}}], **fields}
        return self.client.post(PATH, json=body, headers=headers)

    def ask(self, headers: Headers, text: str, **fields: Any) -> list[dict[str, Any]]:
        """Asks a question and returns all frames of the answer."""
        response = self.open(headers, text, **fields)
        assert response.status_code == 200, response.data
        self.work()
        return frames_of(response)


def frames_of(response: Any) -> list[dict[str, Any]]:
    """Reads a response to its end; returns its frames, each with its `id`."""
    return events_in(response.data)


def events_in(stream: bytes) -> list[dict[str, Any]]:
    """Returns the frames of a piece of a stream."""
    found = []
    for event in stream.split(b"\n\n"):
        lines = dict(line.split(b": ", 1) for line in event.split(b"\n") if line[:1] not in b":")
        if lines:
            found.append({**json.loads(lines[b"data"]), "id": lines[b"id"].decode()})
    return found


def text_of(frames: list[dict[str, Any]]) -> str:
    """Returns the text of an answer."""
    return "".join(frame["text"] for frame in frames if frame["type"] == "text-delta")


Sites = Callable[[str], AbstractContextManager[Site]]


@pytest.fixture
def sites(migrated_stack: DevStack) -> Sites:
    """`sites(url)` runs a site whose model is at that address."""

    @contextmanager
    def run(url: str) -> Iterator[Site]:
        settings = settings_for(
            migrated_stack.urls,
            assistant_base_url=url,
            assistant_models="small, large",
            assistant_api_key=KEY,
        )
        with connected(settings) as runtime:
            stopping = threading.Event()
            queries = QueryRunner(runtime, pool_size=2)
            chat = ChatModel(settings, first_byte_secs=2, silence_secs=1)
            desk = Desk(runtime, chat, queries, stopping)
            made = Site(runtime, create_app(runtime).test_client(), desk, stopping)
            try:
                yield made
            finally:
                stopping.set()
                for thread in made.threads:
                    thread.join()
                chat.close()
                queries.close()

    return run


@pytest.fixture
def me(runtime: Runtime, org: Org) -> Headers:
    """A member with the set `standard`."""
    return new_member(runtime, org, permission_set="standard")


@pytest.fixture
def model() -> Iterator[Evaluator]:
    """A server that answers as the test says."""
    with running_evaluator() as running:
        yield running


@pytest.fixture
def site(sites: Sites, model: Evaluator) -> Iterator[Site]:
    """A site with that model."""
    with sites(f"{model.url}/v1") as made:
        yield made
        model.stopping.set()
