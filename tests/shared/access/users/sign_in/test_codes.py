"""Codes: their owners, lifetime and tries, and a stranger's view."""

from collections.abc import Callable

import pytest
from sqlalchemy import select, text, update

from shared.access.keys.rules import hash_secret
from shared.access.organizations import Organization
from shared.access.settings.models import OrganizationSetting
from shared.access.users import Membership
from shared.access.users.sign_in import codes, service
from shared.access.users.sign_in.models import SignInSession
from shared.foundation.cache import at_once
from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email, signed_in
from tests.support.runtime import Org, make_org
from tests.support.sign_in import issue, new_code, other_than, redeem, row_of
from tests.support.statements import counted_statements


def configure(runtime: Runtime, org: Org, key: str, value: object) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        session.add(OrganizationSetting(org_id=org.uuid, key=key, value=value, updated_by="test"))


def expire(runtime: Runtime, email: str) -> None:
    with runtime.postgres.transaction() as session:
        session.execute(
            text("UPDATE sign_in_codes SET expires_at = now() WHERE email = :email"),
            {"email": email},
        )


def test_a_code_has_six_digits_and_opens_the_members_organizations(
    runtime: Runtime, org: Org, email: str
) -> None:
    second = make_org(runtime)
    add_member(runtime, second, email=email)
    issued = issue(runtime, email)
    assert issued is not None
    assert issued.code.isascii()
    assert issued.code.isdecimal()
    assert len(issued.code) == 6
    assert issued.ttl_secs == 600
    members = redeem(runtime, email, issued.code)
    assert members is not None
    assert {member.org_slug for member in members} == {org.slug, second.slug}


def test_a_code_is_good_once(runtime: Runtime, email: str) -> None:
    code = new_code(runtime, email)
    assert redeem(runtime, email, code) is not None
    assert redeem(runtime, email, code) is None
    assert row_of(runtime, email) is None


def test_only_the_last_code_of_an_address_counts(runtime: Runtime, email: str) -> None:
    first = new_code(runtime, email)
    while (second := new_code(runtime, email)) == first:
        pass
    assert redeem(runtime, email, first) is None
    assert redeem(runtime, email, second) is not None


def test_a_code_is_of_one_address(runtime: Runtime, org: Org, email: str) -> None:
    other = new_email()
    add_member(runtime, org, email=other)
    code = new_code(runtime, email)
    assert redeem(runtime, other, code) is None
    assert redeem(runtime, email, code) is not None


def test_neither_a_code_nor_its_like_lies_in_the_table(runtime: Runtime, email: str) -> None:
    """The same code of two addresses has two hashes, and no plain text."""
    code = new_code(runtime, email)
    row = row_of(runtime, email)
    assert row is not None
    assert code.encode() not in row.salt + row.code_hash
    assert codes._hash(code, row.salt) == row.code_hash
    assert codes._hash(code, b"another salt") != row.code_hash


def test_a_code_expires_after_the_shortest_life_of_the_organizations(
    runtime: Runtime, org: Org, email: str
) -> None:
    second = make_org(runtime)
    add_member(runtime, second, email=email)
    configure(runtime, org, "otp_ttl_secs", 900)
    configure(runtime, second, "otp_ttl_secs", 120)
    issued = issue(runtime, email)
    assert issued is not None
    assert issued.ttl_secs == 120
    row = row_of(runtime, email)
    assert row is not None
    assert (row.expires_at - row.created_at).total_seconds() == 120
    expire(runtime, email)
    assert redeem(runtime, email, issued.code) is None


def test_five_wrong_tries_kill_a_code(runtime: Runtime, email: str) -> None:
    code = new_code(runtime, email)
    for _ in range(4):
        assert redeem(runtime, email, other_than(code)) is None
    assert redeem(runtime, email, code) is not None
    code = new_code(runtime, email)
    for _ in range(5):
        assert redeem(runtime, email, other_than(code)) is None
    assert redeem(runtime, email, code) is None
    # A new code starts with a new count.
    assert redeem(runtime, email, new_code(runtime, email)) is not None


@pytest.mark.parametrize("code", ["", " ", "12345", "1234567", "a" * 6, "١٢٣٤٥٦", "1" * 100_000])
def test_a_malformed_code_counts_as_wrong(runtime: Runtime, email: str, code: str) -> None:
    new_code(runtime, email)
    assert redeem(runtime, email, code) is None
    row = row_of(runtime, email)
    assert row is not None
    assert row.wrong_tries == 1


def disable(runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        session.execute(
            update(Membership)
            .where(Membership.org_id == org.uuid)
            .values(disabled_at=text("now()"))
        )


def delete_organization(runtime: Runtime, org: Org) -> None:
    with at_once(runtime.postgres, runtime.redis) as session:
        deleted = update(Organization).where(Organization.id == org.uuid)
        session.execute(deleted.values(deleted_at=text("now()")))


def let_only_others_in(runtime: Runtime, org: Org) -> None:
    configure(runtime, org, "allowed_sign_ins", ["*@elsewhere.example"])


@pytest.mark.parametrize("change", [disable, delete_organization, let_only_others_in])
def test_only_members_get_a_code_and_can_use_one(
    runtime: Runtime, org: Org, email: str, change: Callable[[Runtime, Org], None]
) -> None:
    code = new_code(runtime, email)
    change(runtime, org)
    assert redeem(runtime, email, code) is None
    assert issue(runtime, email) is None


def test_the_allowlist_of_one_organization_leaves_the_others_open(
    runtime: Runtime, org: Org, email: str
) -> None:
    second = make_org(runtime)
    add_member(runtime, second, email=email)
    let_only_others_in(runtime, org)
    members = redeem(runtime, email, new_code(runtime, email))
    assert members is not None
    assert [member.org_slug for member in members] == [second.slug]


def test_strangers_cost_what_members_cost(
    runtime: Runtime, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same statements and the same hashes, from the request to the sixth wrong try."""
    hashed: list[str] = []
    real = codes._hash

    def counted(code: str, salt: bytes) -> bytes:
        hashed.append(code)
        return real(code, salt)

    monkeypatch.setattr(codes, "_hash", counted)

    def everything(address: str) -> tuple[list[str], int]:
        hashed.clear()
        with counted_statements(runtime) as statements:
            service.request_code(runtime, address)
            redeem(runtime, address, "not-asked-yet")
            issue(runtime, address)
            for _ in range(6):
                redeem(runtime, address, "wrong")
            expire(runtime, address)
            redeem(runtime, address, "late")
        return [_shape(one) for one in statements], len(hashed)

    of_member, of_stranger = everything(email), everything(new_email())
    assert of_member == of_stranger
    assert of_member[1] == 9


def test_a_stranger_has_no_code(runtime: Runtime) -> None:
    email = new_email()
    assert issue(runtime, email) is None
    row = row_of(runtime, email)
    assert row is not None
    assert row.code_hash == bytes(32)


def test_expired_codes_are_deleted(runtime: Runtime, org: Org, email: str) -> None:
    live, over = email, new_email()
    user_id = add_member(runtime, org, email=over)
    new_code(runtime, live)
    new_code(runtime, over)
    expire(runtime, over)
    ended, open_ = (signed_in(runtime, user_id)["Authorization"][7:] for _ in range(2))
    hashes = [hash_secret(token.encode()) for token in (ended, open_)]
    with runtime.postgres.transaction() as session:
        old = update(SignInSession).where(SignInSession.token_hash == hashes[0])
        session.execute(old.values(expires_at=text("now()")))
    with runtime.postgres.transaction() as session:
        service.tidy(session)
        kept = session.scalars(
            select(SignInSession.token_hash).where(SignInSession.user_id == user_id)
        ).all()
    assert kept == [hashes[1]]
    assert row_of(runtime, live) is not None
    assert row_of(runtime, over) is None


def _shape(statement: str) -> str:
    """Returns the statement without the number of its parameters, which counts the memberships."""
    return statement.split(" IN (")[0]
