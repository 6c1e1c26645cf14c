"""Request and response schemas of the routes of the audit log."""

from typing import get_args

from marshmallow import Schema, validate

from shared.access.audit_log.caller import Kind, Way
from web import fields
from web.params import Limit, values

_WAYS = get_args(Way)
_STORABLE = validate.ContainsNoneOf("\0", error="must not contain U+0000")


class AuditLogFilters(Schema):
    """The lines to list."""

    ts_from = fields.moment("only lines from this time on", optional=True)
    ts_to = fields.moment("only lines before this time", optional=True)
    noun = values("what the action is about, such as `key` or `setting`")
    action = values("the action, such as `key.disable`")
    actor = values("a person's address, or the name of a key or of an operator's account")
    way = values("the front end", _WAYS)
    target_id = fields.text("the id of what the action is about", optional=True, validate=_STORABLE)


class AuditLogQuery(AuditLogFilters):
    """The page of lines to list."""

    cursor = fields.cursor()
    limit = Limit(default=50, cap=200)


class AuditLogLine(Schema):
    """A change, an export or a command. No line holds a secret."""

    id = fields.uuid()
    at = fields.moment()
    actor_kind = fields.text(
        "`anonymous`: nobody was signed in; `system`: the service itself", enum=[*get_args(Kind)]
    )
    actor_id = fields.uuid("of the account or key", null=True)
    actor = fields.text("a person's address, or the name of a key or of an operator's account")
    key_name = fields.text("the instance key that acted for the person", null=True)
    way = fields.text("the front end", enum=[*_WAYS])
    address = fields.text("of the client", null=True)
    request_id = fields.text("`X-Request-Id` of the request", null=True)
    noun = fields.text("the first part of the action")
    action = fields.text("`noun.verb`")
    target_id = fields.text("the id of what the action is about", null=True)
    target = fields.text("its name at that time", null=True)
    before = fields.mapping(
        "the fields that changed, with the values before; null for what was created", null=True
    )
    after = fields.mapping("the same with the values after; null for what was deleted", null=True)


class AuditLogPage(Schema):
    """A page of lines, newest first."""

    lines = fields.rows(AuditLogLine)
    next_cursor = fields.next_cursor()
