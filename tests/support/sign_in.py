"""Sign-in as a browser does it, without the mail in between."""

import ipaddress
import random
from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from shared.access.users import Member
from shared.access.users.sign_in import codes
from shared.access.users.sign_in.models import SignInCode
from shared.foundation.deployment.runtime import Runtime


def new_address() -> str:
    """Returns an IPv4 address that no other test uses for counted requests."""
    return str(ipaddress.IPv4Address(random.randrange(1 << 24, 223 << 24)))


def issue(runtime: Runtime, email: str) -> codes.IssuedCode | None:
    """Calls `codes.issue` in a separate transaction."""
    with runtime.postgres.transaction() as session:
        return codes.issue(session, runtime.settings, email)


def redeem(runtime: Runtime, email: str, code: str) -> list[Member] | None:
    """Calls `codes.redeem` in a separate transaction."""
    with runtime.postgres.transaction() as session:
        return codes.redeem(session, runtime.settings, runtime.queue, email, code)


def row_of(runtime: Runtime, email: str) -> SignInCode | None:
    """Returns the row of an address."""
    with runtime.postgres.transaction() as session:
        return session.scalars(select(SignInCode).where(SignInCode.email == email)).one_or_none()


def new_code(runtime: Runtime, email: str) -> str:
    """Returns the code that the mail to a member would hold."""
    issued = issue(runtime, email)
    assert issued is not None
    return issued.code


def other_than(code: str) -> str:
    """Returns a wrong code."""
    return f"{(int(code) + 1) % 10**6:06}"


@dataclass
class Visitor:
    """A browser with its own address and cookies."""

    client: FlaskClient

    @classmethod
    def of(cls, app: Flask, address: str | None = None) -> "Visitor":
        """Returns a new visitor."""
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = new_address() if address is None else address
        return cls(client)

    def ask(self, email: object, **headers: str) -> TestResponse:
        """Sends POST /auth/otp/request."""
        return self._post("otp/request", {"email": email}, headers)

    def enter(self, email: object, code: object, **headers: str) -> TestResponse:
        """Sends POST /auth/otp/verify."""
        return self._post("otp/verify", {"email": email, "code": code}, headers)

    def sign_in(self, runtime: Runtime, email: str) -> TestResponse:
        """Enters the right code."""
        response = self.enter(email, new_code(runtime, email))
        assert response.status_code == 200, response.data
        return response

    def session(self, **headers: str) -> TestResponse:
        """Sends GET /auth/session."""
        return self.client.get("/v1/auth/session", headers=_named(headers), buffered=True)

    def leave(self, **headers: str) -> TestResponse:
        """Sends POST /auth/logout."""
        return self.client.post("/v1/auth/logout", headers=_named(headers), buffered=True)

    def _post(self, route: str, body: Any, headers: dict[str, str]) -> TestResponse:
        # Buffered, so that the response is closed, and thereby logged, before the test reads the
        # log.
        return self.client.post(
            f"/v1/auth/{route}", json=body, headers=_named(headers), buffered=True
        )


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
