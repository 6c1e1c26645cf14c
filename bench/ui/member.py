"""The person whose browser is measured, and what the benchmark asks of the API."""

import gzip
import json
import re
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from devstack.up.deployment import Deployment

_CODE = re.compile(r"\b(\d{6})\b")
_WITHIN_SECS = 30.0


@dataclass(frozen=True)
class Member:
    """`token` is that of the sign-in session, `key` may do everything, `org` is the slug."""

    url: str
    key: str
    org: str
    token: str

    def post(self, lines: list[bytes]) -> None:
        """Sends events."""
        headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        _call(f"{self.url}/v1/events", gzip.compress(b"\n".join(lines)), self._bearer | headers)

    def stored(self, session_id: str) -> int:
        """Returns how many events of the session can be read."""
        url = f"{self.url}/v1/sessions?session_id={session_id}"
        rows = json.loads(_call(url, None, self._bearer)[0])["sessions"]
        return int(rows[0]["event_count"]) if rows else 0

    def get(self, path: str) -> Any:
        """Returns the answer of a GET, as JSON."""
        return json.loads(_call(f"{self.url}{path}", None, self._bearer)[0])

    def run(self, sql: str) -> Any:
        """Returns the one value of a statement."""
        body = json.dumps({"sql": sql}).encode()
        headers = self._bearer | {"Content-Type": "application/json"}
        answer, _ = _call(f"{self.url}/v1/queries/run", body, headers)
        return json.loads(answer)["rows"][0][0]

    @property
    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def new_member(deployment: Deployment, admin: Member, email: str) -> Member:
    """Invites a person with all permissions, and signs them in."""
    body = json.dumps({"email": email, "permission_set": "admin"}).encode()
    headers = {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"}
    _call(f"{admin.url}/v1/users", body, headers)
    return signed_in_member(deployment, email)


def signed_in_member(deployment: Deployment, email: str = "") -> Member:
    """Signs a person in, by default the administrator, with the code from the worker's log."""
    email = email or deployment.environ["ADMIN_EMAIL"]
    log = deployment.stack.directory / "logs" / "worker.log"
    before = len(log.read_text())
    _post(f"{deployment.url}/v1/auth/otp/request", {"email": email})
    code = _code(log, before)
    _, cookie = _post(f"{deployment.url}/v1/auth/otp/verify", {"email": email, "code": code})
    pair = cookie.split(";")[0]
    answer, _ = _call(f"{deployment.url}/v1/auth/session", None, {"Cookie": pair})
    org = json.loads(answer)["memberships"][0]["org_slug"]
    return Member(deployment.url, deployment.admin_key, org, pair.partition("=")[2])


def _code(log: Path, before: int) -> str:
    deadline = time.monotonic() + _WITHIN_SECS
    while time.monotonic() < deadline:
        found = _CODE.findall(log.read_text()[before:])
        if found:
            return str(found[-1])
        time.sleep(0.1)
    raise click.ClickException(f"no sign-in code in {log}")


def _post(url: str, body: dict[str, str]) -> tuple[bytes, str]:
    return _call(url, json.dumps(body).encode(), {"Content-Type": "application/json"})


def _call(url: str, body: bytes | None, headers: dict[str, str]) -> tuple[bytes, str]:
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 our own server
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return answer.read(), answer.headers.get("Set-Cookie") or ""
