"""The browser that a person signs in with."""

from flask import request

from shared.access.users.sign_in.browsers import browser_of


def browser_of_request() -> str | None:
    """Returns its name for people, None if it is not known."""
    return browser_of(request.headers.get("User-Agent", ""))
