"""The table of all kinds of mail; to add a kind, add a row and its two templates.

The texts are `templates/<kind>.txt` and `templates/<kind>.html`. They can use the fields of the
context, the values that are made at sending, and `recipient` and `page_url`, the link of the mail
(None without a page or PUBLIC_URL).
"""

from dataclasses import dataclass
from datetime import timedelta

from shared.foundation.core import pages


@dataclass(frozen=True)
class MailKind:
    """A kind of mail; `fields` are exactly the names of a letter's context.

    `made_when_sent` names values that must not be in the outbox; the sender creates them for each
    attempt. After `max_age` no attempt begins any more. `subject` is a template. The mail links to
    the path `page`; a context with the field `page` names its own.
    """

    subject: str
    fields: frozenset[str] = frozenset()
    made_when_sent: frozenset[str] = frozenset()
    max_age: timedelta = timedelta(days=2)
    page: str | None = None


# Mails that the previous release wrote lack these, and are sent all the same.
NEW_FIELDS = frozenset({"page", "description"})

KINDS: dict[str, MailKind] = {
    # Subjects appear on locked screens and in lists, so the code is only in the body.
    "code": MailKind(
        subject="Your sign-in code for Watchpost",
        made_when_sent=frozenset({"code", "ttl_secs"}),
        max_age=timedelta(minutes=10),
    ),
    # `wrong_codes`: how many of them brought the mail about. Made when sent, because only then
    # is it known whether the address is a member's.
    "codes_guessed": MailKind(
        subject="Somebody tries to sign in to Watchpost as you",
        made_when_sent=frozenset({"wrong_codes"}),
        page=pages.SIGN_IN,
    ),
    # `org_name`; `invited_by`: an address, or "A key".
    "invitation": MailKind(
        subject="{{ invited_by }} invited you to {{ org_name }} on Watchpost",
        fields=frozenset({"org_name", "invited_by"}),
        page=pages.SIGN_IN,
    ),
    # `org_name`; `changed_by`: an address, or the name of a key; `permissions`: the effective ones
    # now, `gained` and `lost` by the change, each a list of tokens.
    "permissions_changed": MailKind(
        subject="Your permissions in {{ org_name }} have changed",
        fields=frozenset({"org_name", "changed_by", "permissions", "gained", "lost"}),
        page=pages.ROOT,
    ),
    # `event`: acknowledged, assigned, commented or resolved, by `actor`: an address, the name of a
    # key, or `system`; `note`: the assignees, the comment, or empty.
    "incident_activity": MailKind(
        subject="{{ title }}: {{ event }} by {{ actor }}",
        fields=frozenset(
            {"org_name", "incident_id", "page", "title", "severity", "event", "actor", "note"}
        ),
    ),
    # The data that `shared.watch.incidents.deliveries.mails` has about an incident. `event` is
    # alert.firing, alert.resolved or alert.test; `headline` names severity and title; missing
    # values are None.
    "alert_notification": MailKind(
        subject="{{ headline }}",
        fields=frozenset(
            {
                "org_name",
                "incident_id",
                "page",
                "event",
                "headline",
                "title",
                "severity",
                "origin_name",
                "value",
                "summary",
                "description",
                "opened_at",
            }
        ),
        max_age=timedelta(days=1),
    ),
}
