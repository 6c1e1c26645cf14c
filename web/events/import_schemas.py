"""The parameters and the answer of POST /events/import."""

from marshmallow import Schema, ValidationError, validate

from shared.intake.imports.formats import AUTO, NAMES
from shared.intake.imports.service import MAX_SESSIONS
from web import fields

MAX_PATH = 4096
# The latest moment whose events have arrivals that ClickHouse can store.
_MAX_MS = 2**42


def _no_comma(environment: str) -> None:
    if "," in environment:
        raise ValidationError("must not contain a comma")


class ImportQuery(Schema):
    """The options of an import."""

    format_ = fields.text(
        "`auto`: the first line that is of a known format decides",
        data_key="format",
        load_default=AUTO,
        validate=validate.OneOf(NAMES),
    )
    path = fields.text(
        "path of the file, of which the last two parts count: some formats name sessions and"
        " agents by it",
        load_default="",
        validate=validate.Length(max=MAX_PATH),
    )
    environment = fields.text(
        "environment of events that name none",
        load_default="upload",
        validate=[
            validate.Length(1, 64),
            validate.Regexp(r"^[^\x00-\x1f\x7f-\x9f]*\Z", error="contains a control character"),
            _no_comma,
        ],
    )
    dry_run = fields.flag("`true`: return the numbers, and store nothing", load_default=False)
    existing_before = fields.integer(
        "milliseconds since the epoch: a session with events that arrived before this moment in"
        " another way is left alone; default: now",
        optional=True,
        validate=validate.Range(0, _MAX_MS),
    )
    started_at = fields.moment(
        "when the first event happened, for files without any timestamp", optional=True
    )


class SkippedLine(Schema):
    """The reason why a line was skipped."""

    line = fields.integer("counted from 1; in a document the steps are counted")
    error = fields.text()


class ImportedSession(Schema):
    """A session of the file."""

    session_id = fields.text()
    events = fields.integer("events of the file")
    accepted = fields.integer("those that are new")


class SkippedSession(Schema):
    """A session of which nothing was imported."""

    session_id = fields.text()
    reason = fields.text()


class Imported(Schema):
    """The result of an import. Its sessions' `events` are accepted, duplicate, or left alone."""

    format = fields.text("format of the file")
    dry_run = fields.flag()
    lines = fields.integer("lines that are not blank; of a document its steps")
    events = fields.integer("events that the lines make")
    accepted = fields.integer("events that are new and will be stored")
    duplicate = fields.integer("events that existed before, or come twice in the file")
    skipped = fields.integer("lines that cannot be read, or make an event that cannot be stored")
    ignored = fields.integer("lines that are no events")
    held_back = fields.integer("lines at the end that wait for those that follow them")
    errors = fields.rows(SkippedLine, "the reasons of the first 20 skipped lines")
    sessions = fields.rows(ImportedSession, f"the first {MAX_SESSIONS} sessions of the file")
    session_count = fields.integer("sessions of the file")
    skipped_sessions = fields.rows(SkippedSession, "sessions that came in another way before")
    first_ts = fields.text("time of the earliest event", null=True, format="date-time")
    last_ts = fields.text("time of the latest event", null=True, format="date-time")
