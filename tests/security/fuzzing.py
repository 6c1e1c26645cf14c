"""Requests that schemathesis makes from the OpenAPI document, and what every answer satisfies.

A request is one of four kinds. `valid` fits the schema. `invalid` does not. `near` is a body that
the service accepts, with some fields of a valid one. `odd` is such a body, or a query, with one
absurd value. Values that fit a schema rarely fit together, so only `near` and `odd` reach the
code behind the checks of the fields.
"""

import os
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import unquote, urlsplit
from zlib import crc32

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CheckContext
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from shared.foundation.deployment.runtime import Runtime
from tests.security.odd import ODD_JSON, ODD_TEXTS, with_field
from tests.security.world import World, make_world
from tests.support.app import Headers, new_key
from tests.support.document import Document
from tests.support.people import new_member
from tests.support.runtime import make_org
from tests.support.server import Server
from tests.support.sign_in import new_address

AnyOperation = APIOperation[Any, Any, Any, Any]
Case = schemathesis.Case[AnyOperation]

SEED = int(os.environ.get("WATCHPOST_FUZZ_SEED", "1"))
# With it, seeds follow each other until this much time is over.
SECONDS = float(os.environ.get("WATCHPOST_FUZZ_SECS", "0"))

# Answers of 500 and more that describe the deployment of the tests: no worker runs, and it has
# no language model and no evaluator.
_EXPECTED_5XX = {("GET", "/v1/ready", 503): "", ("POST", "/v1/agent/chat", 503): "assistant"}
# Any request can have too long a URL or too large headers. Only `default` documents that.
_OF_THE_SERVER = ("414", "431")
# Headers that choose the caller. The tests choose it themselves.
_CALLER = frozenset({"X-Service-Org", "X-Service-Actor"})
_CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def bounded(examples: int, steps: int = 1) -> settings:
    """Returns settings that make this many examples, always the same ones for a seed."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def seed_of(label: str, seed: int) -> int:
    """Returns the seed of one operation, so that operations do not all get the same values."""
    return crc32(f"{seed} {label}".encode())


class Target:
    """A web tier, an organization that the requests use up, and one that none may reach."""

    def __init__(
        self, runtime: Runtime, server: Server, document: Document, ours: World, theirs: World
    ) -> None:
        self.ours, self.theirs = ours, theirs
        self.schema = schemathesis.openapi.from_dict(strict(document.body))
        self._runtime, self._document = runtime, document
        self._fixed = {template for _, template, _ in document.operations()}
        self._url = f"http://127.0.0.1:{server.port}"
        self._session = requests.Session()
        self._session.trust_env = False
        self.failures: dict[str, str] = {}
        # The field with an absurd value, or None for the whole body, by the id of the case.
        self.absurd: dict[str, str | None] = {}
        outsider = make_org(runtime)
        # Somebody without any data: all that such a caller sees of others is foreign.
        self.outsiders = [new_member(runtime, outsider), new_key(runtime, outsider)]

    def renew(self) -> None:
        """Replaces the callers that a request has disabled, and an organization used up."""
        ours = self.ours
        if ours.call("GET", "/v1/auth/introspect").status_code != 200:
            ours.person = new_member(self._runtime, ours.org)
        if ours.call("GET", "/v1/auth/introspect", ours.key).status_code != 200:
            ours.key = new_key(self._runtime, ours.org)

    def start_over(self) -> None:
        """Continues with a new organization."""
        self.ours = make_world(self._runtime, self.ours.client, self._document)

    def send(self, case: Case, caller: Headers) -> Response:
        """Sends a request as this caller."""
        headers = {**caller, "X-Forwarded-For": new_address(), "Cookie": ""}
        answer: Response = case.call(
            base_url=self._url, session=self._session, headers=headers, timeout=120
        )
        self._session.cookies.clear()
        return answer

    def callers(self, template: str) -> list[Headers]:
        """Returns the credentials of the organization. A sign-out uses none, to keep them."""
        return [{}] if template == "/v1/auth/logout" else [self.ours.person, self.ours.key]

    def check(self, case: Case, answer: Response) -> None:
        """Notes a failure unless the answer is as documented and shows nothing foreign.

        Hypothesis would repeat a request that fails. Its second answer would be another one,
        because the first request has changed the organization.
        """
        theirs = self.theirs
        if answer.status_code == 405 and urlsplit(answer.request.url or "").path in self._fixed:
            return  # an id was drawn that is the last part of another path, like `run`

        def no_defect(_ctx: CheckContext, response: Response, case: Case) -> None:
            _require_no_defect(case, response)
            _require_unmarked(response, theirs)
            name = self.absurd.pop(case.id, None)
            if name is not None and response.status_code == 422:
                named = {one.partition(".")[0] for one in response.json()["fields"]}
                assert named == {name}, f"the absurd value is in {name}"

        try:
            case.validate_response(answer, checks=[*_CHECKS, no_defect])
        except FailureGroup as failure:
            self.note(case, failure)

    def note(self, case: Case, failure: BaseException) -> None:
        """Keeps the first failure of an operation."""
        self.failures.setdefault(case.operation.label, str(failure)[:3000])

    def require_no_failure(self, seed: int) -> None:
        """Fails with all that went wrong."""
        told = [
            f"{what}, WATCHPOST_FUZZ_SEED={seed}:\n{why}" for what, why in self.failures.items()
        ]
        self.failures.clear()
        assert not told, "\n\n".join(told)

    def check_nothing_for_outsiders(self, case: Case) -> None:
        """Repeats a read as outsiders, who must see nothing of this organization."""
        for caller in self.outsiders:
            try:
                _require_unmarked(self.send(case, caller), self.ours)
            except AssertionError as failure:
                self.note(case, failure)


def strict(body: dict[str, Any]) -> dict[str, Any]:
    """Returns a document without the answer `default`, which would allow every status.

    It also lacks what chooses a caller.
    """
    copy = deepcopy(body)
    copy.get("components", {}).pop("securitySchemes", None)
    copy.pop("security", None)
    for item in copy["paths"].values():
        for method in item.keys() - {"parameters"}:
            operation = item[method]
            default = operation["responses"].pop("default")
            operation["responses"] |= dict.fromkeys(_OF_THE_SERVER, default)
            operation.pop("security", None)
            operation["parameters"] = [
                one for one in operation.get("parameters", []) if one["name"] not in _CALLER
            ]
    return copy


def _require_no_defect(case: Case, response: Response) -> None:
    if response.status_code < 500:
        return
    reason = _EXPECTED_5XX.get((case.method.upper(), case.path, response.status_code))
    assert reason is not None, _said(response)
    assert reason in _said(response)


def _require_unmarked(response: Response, hidden: World) -> None:
    """Fails if an answer has more of the hidden organization than the request."""
    said = _said(response)
    sent = f"{unquote(response.request.url or '')} {_text(response.request.body)}"
    for private in (hidden.mark, hidden.org.id, hidden.org.slug):
        assert private in sent or private not in said, said[:2000]


def _text(body: object) -> str:
    return body.decode(errors="replace") if isinstance(body, bytes) else str(body)


def _said(response: Response) -> str:
    return response.content.decode(errors="replace")


@st.composite
def requests_of(draw: st.DrawFn, target: Target, operation: AnyOperation, paths: list[str]) -> Case:
    """Draws a request for one operation, mostly about one of these paths."""
    described = operation.definition.raw
    body = target.ours.body(described)
    kinds = ["valid", "invalid", "odd", *(["near"] * 2 if isinstance(body, dict) else [])]
    kind = draw(st.sampled_from(kinds))
    mode = GenerationMode.NEGATIVE if kind == "invalid" else GenerationMode.POSITIVE
    if kind == "odd":
        case = _odd(draw, target, operation, body)
    else:
        case = draw(operation.as_strategy(generation_mode=mode))
        if kind == "near":
            case.body = _mixed(draw, body, case.body)
    if draw(st.integers(0, 4)) and paths:
        case.path_parameters = parameters_of(operation.path, draw(st.sampled_from(paths)))
    return case


def _mixed(draw: st.DrawFn, accepted: dict[str, Any], valid: object) -> Any:
    """Returns the accepted body with some fields of the valid one."""
    if not isinstance(valid, Mapping):
        return accepted
    chosen: set[str] = set()
    if valid:
        chosen = draw(st.sets(st.sampled_from(sorted(valid)), max_size=3))
    return {**accepted, **{name: valid[name] for name in chosen}}


def _odd(draw: st.DrawFn, target: Target, operation: AnyOperation, accepted: object) -> Case:
    """Returns a request with one absurd value."""
    case = operation.Case(path_parameters=dict.fromkeys(_names(operation.path), "1"))
    if isinstance(accepted, dict):
        schema = operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
        fields = Document(operation.schema.raw_schema).resolve(schema).get("properties", {})
        name = draw(st.sampled_from([None, *fields]))
        odd = draw(st.sampled_from(ODD_JSON))
        case.body = odd.encode() if name is None else with_field(accepted, name, odd)
        case.media_type = "application/json"
        target.absurd[case.id] = name
        return case
    named = [one["name"] for one in operation.definition.raw["parameters"] if one["in"] == "query"]
    if named:
        case.query = {draw(st.sampled_from(named)): unquote(draw(st.sampled_from(ODD_TEXTS)))}
    return case


def parameters_of(template: str, path: str) -> dict[str, str]:
    """Returns the values that the path has for the template's parameters."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template))
    found = re.fullmatch(pattern, path)
    assert found is not None, (template, path)
    return {name: unquote(value) for name, value in found.groupdict().items()}


def _names(template: str) -> list[str]:
    return re.findall(r"{(\w+)}", template)
