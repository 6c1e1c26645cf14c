"""Absurd values in every field and every parameter that the OpenAPI document names.

No request may cause an internal error, and a refusal names the wrong field.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from werkzeug.test import TestResponse

from tests.security.world import World
from tests.support.routes import EXPORTS
from tests.support.sign_in import new_address

# JSON texts, including some that no encoder would write.
ERROR_KEYS = {"error", "code", "request_id"}
ODD_JSON = (
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "-0.0",
    "1e308",
    "1e400",
    "9223372036854775808",
    "1" + "0" * 400,
    '""',
    '" "',
    r'"\u0000"',
    r'"a\u0000b"',
    r'"\ud800"',
    r'"\u202e\ufeff\ud83d\ude00"',
    r'"\u0660\u0664\u0662\u0661\u0669\u0665"',
    json.dumps("x" * 100_000),
    json.dumps("x" * 300 + "@example.org"),
    '"0001-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59.999999-23:59"',
    "[]",
    "{}",
    r'[null, 0, "\u0000", []]',
    '{"value": {"value": null}}',
    "[" * 60 + "]" * 60,
    "[" * 100_000 + "]" * 100_000,
)

ODD_TEXTS = (
    b"\0",
    b" ",
    b"-1",
    b"0",
    b"1e308",
    b"9" * 40,
    "\u0663".encode(),
    b"\xff\xfe",
    b"x" * 3000,
    b"%",
    b"'",
    b"[]",
    b"\\,",
    b":..",
    b"0001-01-01T00:00:00+23:59",
    b"9999-12-31T23:59:59-23:59",
)


def calls(world: World) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields (method, path, operation) of each operation on one possible resource.

    That is a resource of the organization itself, if there is one. Of settings it is each one.
    """
    for method, template, operation in world.document.operations():
        paths = list(world.paths(template))
        if template != "/v1/settings/{key}":
            paths = sorted(paths, key=lambda path: world.mark not in path)[:1]
        for path in paths:
            yield method, path, operation


def require_no_failure(answer: TestResponse, what: str) -> None:
    """Checks that the answer is a success or the usual error body."""
    assert answer.status_code < 500, f"{what}: {answer.get_data(as_text=True)}"
    if answer.status_code >= 400:
        # Exporters and clients of MCP know errors of their own protocols.
        keys = {"code", "message"} if answer.request.path in EXPORTS else ERROR_KEYS
        keys = {"jsonrpc", "error"} if answer.request.path == "/v1/mcp" else keys
        assert keys <= answer.get_json().keys(), what


def test_odd_bodies(new_world: Callable[[], World]) -> None:
    world = new_world()
    refused = set()
    for method, path, operation in list(calls(world)):
        body = world.body(operation)
        if body is None:
            continue
        content = operation["requestBody"]["content"]["application/json"]["schema"]
        fields = world.document.resolve(content).get("properties", {})
        for name, odd in itertools.product((None, *fields), ODD_JSON):
            sent = odd if name is None else with_field(world.body(operation), name, odd)
            answer = world.client.open(
                path,
                method=method,
                headers=world.person if operation["security"] else {},
                data=sent.encode(),
                content_type="application/json",
                # Requests without a credential are counted by client.
                environ_base={"REMOTE_ADDR": new_address()},
            )
            what = f"{method} {path} {name or 'body'}={odd[:60]}"
            require_no_failure(answer, what)
            assert answer.status_code not in (403, 404, 429), what
            assert answer.status_code != 401 or answer.get_json()["code"] == "wrong_code", what
            if answer.status_code == 422 and name is not None:
                named = answer.get_json()["fields"]
                assert {one.partition(".")[0] for one in named} == {name}, f"{what}: {named}"
                refused.add((method, path, name))
    assert len(refused) > 20


def test_odd_parameters(ours: World) -> None:
    # In turn, so that each parameter gets some texts and each text reaches some parameters.
    odd = itertools.cycle(ODD_TEXTS)
    refused = 0
    for method, path, operation in list(calls(ours)):
        for parameter in operation.get("parameters", []):
            if parameter["in"] != "query" or method != "GET":
                continue
            for text in itertools.islice(odd, 5):
                query: Any = {parameter["name"]: text}
                answer = ours.call(method, path, query=query)
                require_no_failure(answer, f"{path} {parameter['name']}={text[:60]!r}")
                assert answer.status_code in (200, 404, 422), path
                refused += answer.status_code == 422
    assert refused > 20


def with_field(body: dict[str, Any], name: str, odd: str) -> str:
    """Returns the body as JSON, with a JSON text in place of one field."""
    texts = {key: json.dumps(value) for key, value in body.items()} | {name: odd}
    return "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in texts.items()) + "}"
