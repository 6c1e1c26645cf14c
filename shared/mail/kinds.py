"""Every kind of mail there is, as one table: a row added, with its two templates, is a kind added.

What a mail says is in `templates/<kind>.txt` and `templates/<kind>.html`, which see the fields of
the context, what is made when it is sent, and `recipient`, `login_url` (None without PUBLIC_URL).
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Kind:
    """`fields` are the names that a letter's context has, all of them and no others.

    `made_when_sent` names what must not lie in the outbox; whoever sends the mail makes it, anew
    for each attempt. After `max_age` no attempt begins any more. `subject` is a template.
    """

    subject: str
    fields: frozenset[str] = frozenset()
    made_when_sent: frozenset[str] = frozenset()
    max_age: timedelta = timedelta(days=2)


KINDS: dict[str, Kind] = {
    # The subject shows on locked screens and in lists, so the code is in the body only.
    "code": Kind(
        subject="Your sign-in code for Watchpost",
        made_when_sent=frozenset({"code", "ttl_secs"}),
        max_age=timedelta(minutes=10),
    ),
    # `org_name`; `invited_by`: an address, or the name of a key.
    "invitation": Kind(
        subject="{{ invited_by }} invited you to {{ org_name }} on Watchpost",
        fields=frozenset({"org_name", "invited_by"}),
    ),
    # `org_name`; `changed_by`: an address, or the name of a key; `permissions`: the effective ones
    # now, `gained` and `lost` by the change, each a list of tokens.
    "permissions_changed": Kind(
        subject="What you may do in {{ org_name }} has changed",
        fields=frozenset({"org_name", "changed_by", "permissions", "gained", "lost"}),
    ),
    # `event`: acknowledged, assigned, commented or resolved, by `actor`: an address, the name of a
    # key, or `system`; `note`: the assignees, what was said, or nothing.
    "incident_activity": Kind(
        subject="{{ title }}: {{ event }} by {{ actor }}",
        fields=frozenset(
            {"org_name", "incident_id", "title", "severity", "event", "actor", "note"}
        ),
    ),
    # What `shared.incidents.deliveries.mails` tells of an incident. `event` is alert.firing,
    # alert.resolved or alert.test; `headline` names severity and title; what there is not is None.
    "alert_notification": Kind(
        subject="{{ headline }}",
        fields=frozenset(
            {
                "org_name",
                "incident_id",
                "event",
                "headline",
                "title",
                "severity",
                "origin_name",
                "value",
                "summary",
                "opened_at",
            }
        ),
        max_age=timedelta(days=1),
    ),
}
