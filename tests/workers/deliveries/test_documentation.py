"""The instructions of docs/use/webhooks.md for receivers, tested on real deliveries."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import markdown
from tests.support.notifications import SECRET, WEBHOOK, Desk
from tests.support.receivers import Delivery, Receiver

DOCUMENT = (markdown.PROJECT / "docs/use/webhooks.md").read_text()

IsGenuine = Callable[[str, Mapping[str, str], bytes], bool]


def snippet(language: str) -> str:
    [block] = [block for block in markdown.blocks(DOCUMENT) if block.language == language]
    return block.text


@pytest.fixture
def delivery(desk: Desk, receiver: Receiver) -> Delivery:
    """A delivery that is signed with `SECRET`."""
    desk.set("webhook_signing_secret", SECRET)
    desk.open(WEBHOOK, title="Zu viele Fehler \N{COLLISION SYMBOL}")
    desk.send()
    return receiver.deliveries[0]


def altered(delivery: Delivery) -> list[tuple[str, Mapping[str, str], bytes]]:
    """Yields secret, headers and body that differ from those of the delivery."""
    old = str(int(delivery.headers["x-service-timestamp"]) - 301)
    later = str(int(delivery.headers["x-service-timestamp"]) + 1)
    return [
        ("another secret", delivery.headers, delivery.body),
        (SECRET, delivery.headers, delivery.body + b" "),
        (SECRET, {**delivery.headers, "x-service-timestamp": old}, delivery.body),
        (SECRET, {**delivery.headers, "x-service-timestamp": later}, delivery.body),
        (SECRET, {**delivery.headers, "x-service-timestamp": "soon"}, delivery.body),
        (SECRET, {**delivery.headers, "x-service-signature": "sha256="}, delivery.body),
        (SECRET, {}, delivery.body),
    ]


def test_the_python_of_the_document_knows_a_genuine_delivery(delivery: Delivery) -> None:
    names: dict[str, Any] = {}
    exec(snippet("python"), names)  # noqa: S102 the project's own document
    is_genuine: IsGenuine = names["is_genuine"]
    assert is_genuine(SECRET, delivery.headers, delivery.body)
    for secret, headers, body in altered(delivery):
        assert not is_genuine(secret, headers, body)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_javascript_of_the_document_knows_a_genuine_delivery(
    delivery: Delivery, tmp_path: Path
) -> None:
    genuine = (SECRET, delivery.headers, delivery.body)
    calls = [
        [secret, dict(headers), body.decode()]
        for secret, headers, body in (genuine, *altered(delivery))
    ]
    program = tmp_path / "verify.mjs"
    asked = f"{json.dumps(calls)}.map(([s, h, b]) => isGenuine(s, h, Buffer.from(b)))"
    program.write_text(f"{snippet('js')}\nconsole.log(JSON.stringify({asked}));\n")
    ran = subprocess.run(["node", str(program)], capture_output=True, check=True, text=True)
    assert json.loads(ran.stdout) == [True] + [False] * len(altered(delivery))


def test_the_body_of_the_document_has_the_fields_of_a_delivery(delivery: Delivery) -> None:
    shown, sent = json.loads(snippet("json")), delivery.json
    assert shown.keys() == sent.keys()
    for name in ("incident", "alert", "breach"):
        assert shown[name].keys() == sent[name].keys()
    headers = {name for name in delivery.headers if name.startswith("x-service")}
    listed = {row[0].strip("`").lower() for row in markdown.rows(DOCUMENT)}
    assert headers <= listed
