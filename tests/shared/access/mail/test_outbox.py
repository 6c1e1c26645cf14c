"""Mails enter the outbox in the transaction of their subject, or not at all."""

from contextlib import suppress
from functools import partial

import pytest
import redis
from sqlalchemy import select

from shared.access.mail import Letter, enqueue
from shared.access.mail.models import Mail
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import Queue
from shared.foundation.queue.jobs import SEND_MAIL
from tests.support.runtime import Org

CONTEXT = {"org_name": "Acme", "invited_by": "bob@example.net"}


def mails(runtime: Runtime, org: Org) -> list[Mail]:
    with runtime.postgres.transaction() as session:
        return list(session.scalars(select(Mail).where(Mail.org_id == org.uuid)))


def invitation(org: Org) -> Letter:
    return Letter("invitation", "ann@example.net", org.uuid, CONTEXT)


def test_a_mail_is_due_once_the_transaction_commits(
    runtime: Runtime, org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The mark must not expire before the test reads it.
    monkeypatch.setattr(runtime.queue, "nudge", partial(runtime.queue.nudge, ttl_ms=300_000))
    runtime.queue.nudged(SEND_MAIL)
    with runtime.postgres.transaction() as session:
        mail_id = enqueue(session, runtime.queue, invitation(org))
        assert not runtime.redis.exists("nudge:send_mail")
    assert runtime.redis.exists("nudge:send_mail")
    runtime.queue.nudged(SEND_MAIL)
    [mail] = mails(runtime, org)
    assert (mail.id, mail.kind, mail.recipient) == (mail_id, "invitation", "ann@example.net")
    assert (mail.status, mail.attempts, mail.context) == ("queued", 0, CONTEXT)
    assert (mail.expires_at - mail.created_at).days in (1, 2)


def test_a_rolled_back_transaction_sends_nothing(runtime: Runtime, org: Org) -> None:
    runtime.queue.nudged(SEND_MAIL)
    with suppress(ZeroDivisionError), runtime.postgres.transaction() as session:
        enqueue(session, runtime.queue, invitation(org))
        session.flush()
        raise ZeroDivisionError
    assert mails(runtime, org) == []
    assert not runtime.redis.exists("nudge:send_mail")


def test_a_mail_waits_for_the_clock_where_redis_is_away(runtime: Runtime, org: Org) -> None:
    nowhere = redis.Redis(host="127.0.0.1", port=1)
    with runtime.postgres.transaction() as session:
        enqueue(session, Queue(runtime.broker, nowhere), invitation(org))
    assert len(mails(runtime, org)) == 1


@pytest.mark.parametrize(
    "letter",
    [
        Letter("unheard", "ann@example.net"),
        Letter("invitation", "ann@example.net"),
        Letter("invitation", "ann@example.net", None, {**CONTEXT, "more": 1}),
        Letter("code", "ann@example.net", None, {"code": "123456"}),
    ],
    ids=["kind", "missing", "more", "secret"],
)
def test_a_letter_has_what_its_kind_needs_and_no_more(runtime: Runtime, letter: Letter) -> None:
    with pytest.raises(ValueError, match=letter.kind), runtime.postgres.transaction() as session:
        enqueue(session, runtime.queue, letter)
