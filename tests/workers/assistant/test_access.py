"""Access that is taken away while the assistant answers."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from shared.access import users
from shared.access.identity import bootstrap
from shared.access.organizations import lifecycle
from shared.access.users.models import User
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support import chat
from tests.support.app import ADMIN_KEY, AGENT_API_KEY, Headers
from tests.support.evaluator import Evaluator, Exchange
from tests.support.people import acting_as, add_member, new_email, new_member
from tests.support.runtime import Org, make_org
from tests.workers.assistant.conftest import Site, events_in, text_of
from web.assistant import routes


@pytest.fixture
def by_instance_key(runtime: Runtime) -> Callable[[str, Org], Headers]:
    """Returns the headers of the instance's key that acts as a member of an organization."""
    keys = {"admin_key": ADMIN_KEY, "agent_api_key": AGENT_API_KEY}
    bootstrap(replace(runtime, settings=msgspec.structs.replace(runtime.settings, **keys)))
    return lambda email, org: acting_as(email, org.slug)


def disable(runtime: Runtime, org: Org, email: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        user_id = session.scalars(select(User.id).where(User.email == email)).one()
        users.disable(session, org.uuid, str(user_id))


def join_another(runtime: Runtime, _org: Org, email: str) -> None:
    """Makes requests that name no organization ambiguous."""
    add_member(runtime, make_org(runtime), email=email)


def delete_organization(runtime: Runtime, org: Org, _email: str) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        lifecycle.delete(session, org.slug)


@pytest.mark.parametrize(
    ("take", "has_key"),
    [
        (disable, False),
        (join_another, False),
        (delete_organization, False),
        (delete_organization, True),
    ],
)
def test_a_person_who_is_removed_reads_no_further(
    site: Site,
    model: Evaluator,
    runtime: Runtime,
    org: Org,
    monkeypatch: pytest.MonkeyPatch,
    take: Callable[[Runtime, Org, str], None],
    by_instance_key: Callable[[str, Org], Headers],
    *,
    has_key: bool,
) -> None:
    """The answer has a last frame, whichever error the check of the access raises."""
    monkeypatch.setattr(routes, "_CHECK_SECS", 0)
    email = new_email()
    own = new_member(runtime, org, permission_set="standard", email=email)
    removed = threading.Event()

    def in_two_parts(exchange: Exchange) -> None:
        chat.begin(exchange)
        chat.send(exchange, chat.text_chunk("first "))
        removed.wait(30)
        chat.send(exchange, chat.text_chunk("second "))
        chat.streamed()(exchange)

    model.script = [in_two_parts]
    response = site.open(by_instance_key(email, org) if has_key else own, "Hello?")
    site.work()
    seen: list[dict[str, Any]] = []
    for piece in response.response:
        seen += events_in(piece)
        if len(seen) == 1:
            take(runtime, org, email)
            removed.set()
    assert (text_of(seen), seen[-1]["type"]) == ("first ", "error")
    assert "no access" in seen[-1]["message"]
