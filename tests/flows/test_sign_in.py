"""Sign-in as people do it: a mail arrives at a real mail server, and its code opens a session."""

import re

import msgspec
import pytest
from flask import Flask

from shared.foundation.deployment.runtime import Runtime
from tests.support.people import add_member, new_email
from tests.support.processes import running, wait_until
from tests.support.runtime import Org
from tests.support.sign_in import Visitor, row_of
from tests.support.smtp import Received, running_smtp
from tests.web.conftest import app, web_runtime

__all__ = ["app", "web_runtime"]

pytestmark = pytest.mark.flow


def code_in(mail: Received) -> str:
    """Returns the code of a mail: the same in its text and its HTML, and not in its subject."""
    # The text names the recipient, whose hexadecimal address may hold six digits in a row.
    text = mail.text.replace(mail.recipient, "")
    [code] = re.findall(r"(?<!\d)\d{6}(?!\d)", text)
    assert code in mail.html
    assert code not in str(mail.message["Subject"])
    return str(code)


def test_a_member_signs_in_with_the_code_of_a_mail(app: Flask, runtime: Runtime, org: Org) -> None:
    member, stranger = new_email(), new_email()
    add_member(runtime, org, email=member)
    with running_smtp() as smtp:
        settings = msgspec.structs.replace(runtime.settings, **smtp.settings())
        with running("workers.main", "mail", settings=settings):
            visitor = Visitor.of(app)
            # The stranger requests first, so a mail to the stranger would arrive before the
            # member's.
            assert visitor.ask(stranger).get_json() == {"sent": True}
            assert visitor.ask(member).get_json() == {"sent": True}
            first = code_in(smtp.wait_for(member))
            assert visitor.ask(member).get_json() == {"sent": True}
            second = code_in(smtp.wait_for(member, number=2))
            wait_until(lambda: row_of(runtime, stranger) is not None)
        assert smtp.to(stranger) == []
    if first != second:
        assert visitor.enter(member, first).status_code == 401
    assert visitor.enter(member, second).status_code == 200
    assert visitor.session().get_json()["email"] == member
    assert visitor.leave().status_code == 200
    assert visitor.session().status_code == 401
    assert visitor.enter(member, second).status_code == 401
