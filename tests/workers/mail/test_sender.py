"""Mails from the outbox to the mail server: times, attempts, and the state of their rows."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import structlog
from structlog.testing import capture_logs

from shared.access.mail import claims
from shared.access.mail.claims import Forgotten
from shared.foundation.core.attempts import Again, Failed, Sent
from shared.foundation.core.logs import _mask_secrets
from tests.support import smtp as behave
from tests.support.mails import TO, Outbox
from tests.support.smtp import Smtp
from workers.mail.sender import LEASE_SLACK_SECS, MailSender
from workers.mail.smtp import SmtpClient, SmtpLimits


def test_a_mail_is_sent_once_and_kept_as_sent(outbox: Outbox, smtp: Smtp) -> None:
    outbox.add()
    assert outbox.run() == 1
    assert outbox.run_later() == 0
    [mail] = smtp.messages
    assert mail.recipient == TO
    assert mail.message["Message-ID"] == f"<{outbox.row()['id']}@example.org>"
    row = outbox.row()
    assert (row["status"], row["attempts"], row["last_error"]) == ("sent", 1, None)
    assert row["finished_at"] is not None


def test_a_temporary_failure_is_retried_with_growing_waits(outbox: Outbox, smtp: Smtp) -> None:
    smtp.default = {"RCPT": "451 later"}
    outbox.add()
    waits = []
    for _ in range(12):
        assert outbox.run_later() == 1
        waits.append(outbox.row()["wait"])
    assert 4 < waits[0] < 10
    assert 9 < waits[1] < 20
    assert 1700 < waits[-1] < 3600
    assert outbox.row()["last_error"] == "the mail server answered 451 later"
    assert outbox.run() == 0
    smtp.default = {}
    outbox.run_later()
    assert outbox.row()["status"] == "sent"
    assert outbox.row()["last_error"] is None


def test_every_copy_of_a_mail_has_the_same_id(outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"BODY": behave.take_and_hang_up}]
    outbox.add()
    outbox.run()
    outbox.run_later()
    first, second = smtp.messages
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert outbox.row()["status"] == "sent"


def test_a_refused_mail_fails_at_once(outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"RCPT": "550 nobody here"}]
    outbox.add()
    outbox.run()
    assert outbox.run_later() == 0
    row = outbox.row()
    assert (row["status"], row["last_error"]) == (
        "failed",
        "the mail server answered 550 nobody here",
    )
    assert row["finished_at"] is not None


def test_a_mail_fails_after_two_days_without_another_attempt(outbox: Outbox, smtp: Smtp) -> None:
    smtp.default = {"RCPT": "451 later"}
    outbox.add()
    outbox.pass_time(48 * 3600 - 60)
    assert outbox.run() == 1
    assert outbox.row()["status"] == "queued"
    outbox.pass_time(60)
    assert outbox.run() == 0
    row = outbox.row()
    assert row["status"] == "failed"
    assert row["last_error"] == "too late: the mail server answered 451 later"


def test_an_attempt_is_planned_no_later_than_the_end(outbox: Outbox, smtp: Smtp) -> None:
    smtp.default = {"RCPT": "451 later"}
    outbox.add("code")
    outbox.sql("UPDATE mails SET attempts = 20")
    outbox.run()
    assert 500 < outbox.row()["wait"] <= 600


def test_a_servers_answer_is_kept_short_and_on_one_line(outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"RCPT": "550-\0\x1b[31m\r\n550 " + "no " * 500}]
    outbox.add()
    outbox.run()
    error = outbox.row()["last_error"]
    assert len(error) == 500
    assert error.isprintable()


def test_each_attempt_gets_a_new_code_that_is_never_stored(outbox: Outbox, smtp: Smtp) -> None:
    smtp.script = [{"BODY": "451 100001 looks like spam"}]
    outbox.add("code")
    outbox.run()
    row = outbox.row()
    assert row["last_error"] == "the mail server answered 451 [hidden] looks like spam"
    assert "100001" not in str(dict(row))
    outbox.run_later()
    [mail] = smtp.messages
    assert "100002" in mail.text
    assert "100002" in mail.html
    assert "100002" not in mail.message["Subject"]
    assert "10 minutes" in mail.text
    assert outbox.row()["context"] == {}


def test_a_code_is_worth_nothing_after_ten_minutes(outbox: Outbox, smtp: Smtp) -> None:
    outbox.add("code")
    outbox.pass_time(600)
    assert outbox.run() == 0
    assert smtp.messages == []
    assert outbox.codes[0] == "100001"
    assert (outbox.row()["status"], outbox.row()["last_error"]) == ("failed", "too late")


def test_no_trace_is_kept_of_a_code_without_a_member(outbox: Outbox, smtp: Smtp) -> None:
    outbox.add("code", "stranger@example.net")
    assert outbox.run() == 1
    assert smtp.messages == []
    assert outbox.rows() == []


def test_codes_are_not_kept_waiting_by_a_thousand_invitations(outbox: Outbox, smtp: Smtp) -> None:
    for number in range(5):
        outbox.add(recipient=f"guest{number}@example.net")
    outbox.add("code")
    outbox.run()
    assert len(smtp.messages) == 6
    assert smtp.messages[0].recipient == TO


def test_mails_of_a_deleted_organization_wait_for_its_restoration(
    outbox: Outbox, smtp: Smtp
) -> None:
    outbox.add()
    outbox.sql("UPDATE organizations SET deleted_at = now() WHERE id = :org_id")
    assert outbox.run() == 0
    outbox.sql("UPDATE organizations SET deleted_at = NULL WHERE id = :org_id")
    assert outbox.run() == 1
    assert len(smtp.messages) == 1


@pytest.mark.parametrize("recipient", ["ann@example.net\nBcc: eve@example.net", "a@b, c@d", "ann"])
def test_a_mail_to_what_is_no_address_fails(outbox: Outbox, smtp: Smtp, recipient: str) -> None:
    outbox.add(recipient=recipient)
    outbox.run()
    assert outbox.row()["status"] == "failed"
    assert outbox.row()["last_error"] == "the recipient is not one address"
    assert smtp.messages == []


def test_a_context_of_another_version_fails_the_mail_and_no_other(
    outbox: Outbox, smtp: Smtp
) -> None:
    outbox.add()
    outbox.sql("UPDATE mails SET kind = 'unheard'")
    outbox.add()
    outbox.sql("UPDATE mails SET context = '{}'")
    outbox.add()
    outbox.run()
    assert sorted(row["status"] for row in outbox.rows()) == ["failed", "failed", "sent"]
    errors = {row["last_error"] for row in outbox.rows()}
    assert "this version knows no mail of the kind 'unheard'" in errors


def test_a_mail_whose_worker_died_is_due_after_its_lease(outbox: Outbox, smtp: Smtp) -> None:
    outbox.limits = SmtpLimits(exchange_secs=7)
    outbox.add()
    with outbox.runtime.postgres.transaction() as session:
        assert claims.claim(session, lease_secs=7 + LEASE_SLACK_SECS) is not None
    assert outbox.run() == 0
    outbox.pass_time(7 + LEASE_SLACK_SECS)
    assert outbox.run() == 1
    assert outbox.row()["attempts"] == 2
    assert len(smtp.messages) == 1


def test_a_sender_without_the_lease_can_only_record_success(outbox: Outbox) -> None:
    outbox.add()
    with outbox.runtime.postgres.transaction() as session:
        late = claims.claim(session, lease_secs=0)
    assert late is not None
    with outbox.runtime.postgres.transaction() as session:
        assert claims.claim(session, lease_secs=100) is not None
    with outbox.runtime.postgres.transaction() as session:
        for outcome in (Failed("late"), Again("late", 0), Forgotten()):
            claims.record(session, late, outcome)
    row = outbox.row()
    assert (row["status"], row["attempts"], row["last_error"]) == ("queued", 2, None)
    assert row["wait"] > 50
    with outbox.runtime.postgres.transaction() as session:
        claims.record(session, late, Sent())
    assert outbox.row()["status"] == "sent"


def test_no_transaction_is_open_while_the_mail_server_is_talked_to(
    outbox: Outbox, smtp: Smtp
) -> None:
    held = threading.Event()
    asked: list[int] = []

    def look(conversation: behave.Conversation) -> None:
        [row] = outbox.sql(
            "SELECT count(*) AS open FROM pg_stat_activity"
            " WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
        )
        asked.append(row["open"])
        held.set()

    smtp.script = [{"BODY": look}]
    outbox.add()
    outbox.run()
    assert held.is_set()
    assert asked == [0]


def test_concurrent_senders_take_different_mails(outbox: Outbox, smtp: Smtp) -> None:
    for number in range(20):
        outbox.add(recipient=f"guest{number}@example.net")
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: outbox.run(), range(4))) == 20
    assert len(smtp.messages) == 20
    assert {row["status"] for row in outbox.rows()} == {"sent"}


def test_a_sender_that_is_to_stop_takes_nothing_more(outbox: Outbox, smtp: Smtp) -> None:
    stopping = threading.Event()
    stopping.set()
    outbox.add()
    with closing(SmtpClient(outbox.runtime.settings)) as client:
        assert MailSender(outbox.runtime, {}, client, stopping).run() == 0
    assert outbox.row()["attempts"] == 0


def test_log_lines_have_the_id_of_the_request(outbox: Outbox) -> None:
    with structlog.contextvars.bound_contextvars(request_id="a" * 32):
        outbox.add()
    assert outbox.row()["request_id"] == "a" * 32
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        outbox.run()
    [step] = [line for line in logs if line["event"] == "mail_step"]
    assert (step["request_id"], step["step"]) == ("a" * 32, "sent")


def test_no_log_line_holds_the_address_that_a_mail_server_quotes(
    outbox: Outbox, smtp: Smtp
) -> None:
    """Operators see the address next to the error anyway. The log has more readers."""
    smtp.script = [{"RCPT": f"451 <{TO}> later"}, {"RCPT": f"550 no <{TO.upper()}> here"}]
    outbox.add()
    with capture_logs() as logs:
        outbox.run()
        outbox.run_later()
    assert [line["step"] for line in logs if line["event"] == "mail_step"] == ["again", "failed"]
    assert TO not in str(logs).lower()
    row = outbox.row()
    assert row["recipient"] == TO
    assert row["last_error"] == "the mail server answered 550 no <[recipient]> here"


def test_without_a_mail_server_codes_go_to_the_log_and_nothing_else_goes(outbox: Outbox) -> None:
    outbox.configure(smtp_host=None)
    outbox.add("code")
    outbox.add()
    with capture_logs(processors=[_mask_secrets]) as logs:
        outbox.run()
    warnings = [line for line in logs if line["log_level"] == "warning"]
    assert warnings[0]["event"] == "smtp_host_is_not_set"
    assert (warnings[1]["mailed_code"], warnings[1]["recipient"]) == ("100001", TO)
    code, invitation = outbox.rows()
    assert (code["status"], code["last_error"]) == ("sent", None)
    assert (invitation["status"], invitation["last_error"]) == ("failed", "SMTP_HOST is not set")
