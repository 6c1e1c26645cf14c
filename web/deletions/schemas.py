"""Request and response schemas of deletions."""

from marshmallow import Schema

from shared.reading.dimensions.names import MAX_USER_CHARS
from shared.upkeep.deletions.service import DEFAULT_PAGE, MAX_PAGE
from shared.upkeep.deletions.target import MAX_OF_USER, MAX_SESSIONS, MAX_VALUE
from web import fields
from web.params import Body, Limit, Offset


class DeletionBody(Body):
    """Sessions by their ids, all sessions of a user, or all whose payloads name a person."""

    session_ids = fields.list_of(
        fields.text(minLength=1, maxLength=256),
        f"1 to {MAX_SESSIONS} sessions; without any other field",
        optional=True,
        maxItems=MAX_SESSIONS,
    )
    field = fields.text(
        "keys of the payload with dots between them, such as `user.email`",
        optional=True,
        maxLength=MAX_VALUE,
        example="An_example_of.a_field",
    )
    equals = fields.text(
        "the value of `field`",
        optional=True,
        maxLength=MAX_VALUE,
        example="An example of a value",
    )
    user_id = fields.text(
        f"the user of an event of each session, of at most {MAX_OF_USER}; without any other field",
        optional=True,
        maxLength=MAX_USER_CHARS,
    )


class DeletionQuery(Schema):
    """The position in the list."""

    limit = Limit(default=DEFAULT_PAGE, cap=MAX_PAGE)
    offset = Offset()


class DeletionCounts(Schema):
    """Rows by table or kind, in each store."""

    clickhouse = fields.mapping(keys=fields.text(), values=fields.integer())
    postgres = fields.mapping(
        "removed, or changed where they are about more than these sessions",
        keys=fields.text(),
        values=fields.integer(),
    )
    redis = fields.mapping(keys=fields.text(), values=fields.integer())


def _remaining() -> fields.Field:
    return fields.mapping(
        "rows of configuration that mention a session or the value, by table: they stay",
        keys=fields.text(),
        values=fields.integer(),
    )


class DeletionPreview(Schema):
    """The numbers of rows that a deletion would remove or change now."""

    sessions = fields.integer()
    removed = fields.nested(DeletionCounts)
    remaining = _remaining()


class DeletionRow(Schema):
    """A deletion and its progress."""

    id = fields.text(format="uuid")
    state = fields.text(
        "`queued`, `running`; `hidden`: no read finds the data; `rewritten`: the parts are written"
        " again without it; `done`: the replaced files are gone too; `failed`: see `error`",
        enum=["queued", "running", "hidden", "rewritten", "done", "failed"],
    )
    field = fields.text("null for a deletion of sessions by id, or of a user", null=True)
    value_hash = fields.text(
        "of the organization's salt, which the statements contain, a colon and the value or the"
        " user; null for a deletion by id",
        null=True,
    )
    sessions = fields.integer()
    removed = fields.nested(DeletionCounts)
    remaining = _remaining()
    created_by = fields.author()
    created_at = fields.moment(format="date-time")
    hidden_at = fields.moment(null=True, format="date-time")
    rewritten_at = fields.moment(null=True, format="date-time")
    finished_at = fields.moment(null=True, format="date-time")
    error = fields.text(null=True)


class DeletionProof(Schema):
    """A statement for `POST /v1/queries/run`; it counts 0 rows when nothing is left."""

    title = fields.text()
    sql = fields.text()


class DeletionDetail(DeletionRow):
    """A deletion with its proof."""

    dropped_events = fields.integer("events of these sessions that arrived later")
    proofs = fields.rows(DeletionProof)
    not_reached = fields.texts("the places that a deletion does not reach")


class DeletionList(Schema):
    """Deletions, newest first."""

    deletions = fields.rows(DeletionRow)
