"""Wrong codes of an address from many clients: how many are at six digits, and what follows."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from shared.access.audit_log.models import AuditLine
from shared.access.mail.models import Mail
from shared.access.users.sign_in import guesses, service
from shared.access.users.sign_in.models import SignInGuesses
from shared.foundation.core.clock import now
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import new_email
from tests.support.runtime import Org
from tests.support.sign_in import issue, new_code, other_than, redeem, row_of


def guess(runtime: Runtime, email: str) -> int:
    """Asks for a code and enters five wrong ones; returns how many were tries at six digits."""
    issue(runtime, email)
    with runtime.postgres.transaction() as session:
        is_long = guesses.needs_long_code(session, email)
    for number in range(5):
        assert redeem(runtime, email, f"{number:06}") is None
    row = row_of(runtime, email)
    assert row is not None
    return 0 if is_long else row.wrong_tries


def age(runtime: Runtime, email: str, by: timedelta) -> None:
    """Makes everything that is remembered of an address older."""
    with runtime.postgres.transaction() as session:
        query = select(SignInGuesses).where(SignInGuesses.email == email)
        row = session.scalars(query).one()
        row.tried_at = [one - by for one in row.tried_at]
        row.long_until = None if row.long_until is None else row.long_until - by


def tell(runtime: Runtime, email: str) -> Any:
    with runtime.postgres.transaction() as session:
        return guesses.tell(session, runtime.settings, email)


def mails(runtime: Runtime, email: str) -> int:
    with runtime.postgres.transaction() as session:
        query = select(Mail.id).where(Mail.recipient == email, Mail.kind == "codes_guessed")
        return len(session.scalars(query).all())


def lines(runtime: Runtime, org: Org) -> list[tuple[str | None, Any]]:
    with runtime.postgres.transaction() as session:
        query = select(AuditLine.target, AuditLine.after).where(
            AuditLine.org_id == org.uuid, AuditLine.action == "user.codes_guessed"
        )
        return [tuple(row) for row in session.execute(query)]


def test_a_day_of_guessing_gets_twenty_tries_at_six_digits(
    runtime: Runtime, org: Org, email: str
) -> None:
    assert sum(guess(runtime, email) for _ in range(12)) == guesses.MAX_TRIES
    code = new_code(runtime, email)
    assert len(code) == 12
    assert code.isalpha()
    assert redeem(runtime, email, code.upper()) is not None
    assert mails(runtime, email) == 1
    for _ in range(2):
        assert tell(runtime, email) == {"wrong_codes": 20}
    assert lines(runtime, org) == [(email, {"wrong_codes": 20})]


def test_six_digits_are_back_after_a_day(runtime: Runtime, email: str) -> None:
    for _ in range(4):
        guess(runtime, email)
    age(runtime, email, timedelta(hours=23))
    assert len(new_code(runtime, email)) == 12
    age(runtime, email, timedelta(hours=1, seconds=1))
    code = new_code(runtime, email)
    assert len(code) == 6
    assert redeem(runtime, email, code) is not None


def test_the_day_moves_with_the_clock(runtime: Runtime, email: str) -> None:
    """Tries just before midnight and just after it are of one day."""
    for _ in range(3):
        guess(runtime, email)
    age(runtime, email, timedelta(hours=23))
    guess(runtime, email)
    assert len(new_code(runtime, email)) == 12


def test_tries_of_another_day_do_not_add_up(runtime: Runtime, email: str) -> None:
    for _ in range(6):
        for _ in range(3):
            guess(runtime, email)
        age(runtime, email, timedelta(days=1))
    assert len(new_code(runtime, email)) == 6


def test_a_code_from_before_ends_with_the_last_try(runtime: Runtime, email: str) -> None:
    for _ in range(3):
        guess(runtime, email)
    code = new_code(runtime, email)
    for _ in range(4):
        redeem(runtime, email, other_than(code))
    with runtime.postgres.transaction() as session:
        # As if the code came while another one was tried for the last time.
        row = select(SignInGuesses).where(SignInGuesses.email == email)
        session.scalars(row).one().long_until = now() + timedelta(hours=1)
    assert redeem(runtime, email, code) is None


def test_an_address_of_nobody_is_counted_alike_and_gets_no_mail(runtime: Runtime) -> None:
    email = new_email()
    for _ in range(4):
        assert guess(runtime, email) == 5
    assert mails(runtime, email) == 1
    assert tell(runtime, email) is None


def test_what_is_over_is_tidied(runtime: Runtime, email: str) -> None:
    guess(runtime, email)
    with runtime.postgres.transaction() as session:
        whose = SignInGuesses.email == email
        session.execute(update(SignInGuesses).where(whose).values(expires_at=now()))
        service.tidy(session)
        assert session.scalars(select(SignInGuesses).where(whose)).one_or_none() is None
