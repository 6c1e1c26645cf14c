"""Request and response schemas of the routes of pools of workers."""

from marshmallow import Schema

from shared.evaluation.evaluators.pools import MAX_NAME_CHARS
from web import fields
from web.params import Body


class PoolBody(Body):
    """A new pool."""

    name = fields.name(MAX_NAME_CHARS, "unique in the organization; ")
    may_define = fields.switch(
        True, "its workers may register evaluators that the organization does not have"
    )


class WorkerRow(Schema):
    """A process that asks for runs."""

    worker_id = fields.text()
    sdk = fields.text("the program and its version")
    concurrency = fields.integer("runs at once")
    definitions = fields.list_of(fields.raw(), "the versions that it can run")
    last_seen_at = fields.moment()
    leased = fields.integer("runs that it has")


class PoolRow(Schema):
    """A pool of workers, without its token."""

    id = fields.uuid()
    name = fields.text()
    may_define = fields.flag()
    created_by = fields.author(null=True)
    created_at = fields.moment()
    workers = fields.rows(WorkerRow)


class PoolWithToken(PoolRow):
    """A pool with its token, which is shown only once."""

    token = fields.text("the new token, `wpw_…`")


class PoolList(Schema):
    """The organization's pools by name."""

    pools = fields.rows(PoolRow)
