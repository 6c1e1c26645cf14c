"""The parameters and the answer of POST /events/import."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, pre_load, validate
from marshmallow.fields import String

from shared.intake.imports.formats import AUTO, NAMES
from shared.intake.imports.service import MAX_SESSIONS
from shared.reading.dimensions.names import (
    MAX_ATTRIBUTES,
    MAX_KEY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_USER_CHARS,
    MAX_VALUE_CHARS,
    MAX_VERSION_CHARS,
    PREFIX,
    is_key,
)
from web import fields

MAX_PATH = 4096
# The latest moment whose events have arrivals that ClickHouse can store.
_MAX_MS = 2**42


# Parameters that are attributes, each with a key of its own.
_ATTRIBUTE = PREFIX.removesuffix(".")
_NO_CONTROL = validate.Regexp(r"^[^\x00-\x1f\x7f-\x9f]*\Z", error="contains a control character")


def _no_comma(environment: str) -> None:
    if "," in environment:
        raise ValidationError("must not contain a comma")


def _text(most: int) -> list[validate.Validator]:
    return [validate.Length(1, most), _NO_CONTROL]


def _require_tags(tags: list[str]) -> None:
    if len(tags) > MAX_TAGS:
        raise ValidationError(f"must be at most {MAX_TAGS}")
    for tag in tags:
        validate.And(*_text(MAX_TAG_CHARS))(tag)


def _require_attributes(pairs: Mapping[str, str]) -> None:
    """Raises `ValidationError` with the names of the parameters."""
    if len(pairs) > MAX_ATTRIBUTES:
        raise ValidationError(f"must be at most {MAX_ATTRIBUTES}", _ATTRIBUTE)
    for key, value in pairs.items():
        name = f"{PREFIX}{key}"
        if not is_key(key):
            raise ValidationError(
                f"must have a key of 1 to {MAX_KEY_CHARS} characters of A-Za-z0-9_.:/-", name
            )
        try:
            validate.And(*_text(MAX_VALUE_CHARS))(value)
        except ValidationError as error:
            raise ValidationError(error.messages, name) from None


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
            _NO_CONTROL,
            _no_comma,
        ],
    )
    dry_run = fields.flag("`true`: return the numbers, and store nothing", load_default=False)
    replace = fields.flag(
        "`true`: what an import of the same format stored is replaced by what the file makes now",
        load_default=False,
    )
    existing_before = fields.integer(
        "milliseconds since the epoch: a session with events that arrived before this moment in"
        " another way is left alone; default: now",
        optional=True,
        validate=validate.Range(0, _MAX_MS),
    )
    started_at = fields.moment(
        "when the first event happened, for files without any timestamp", optional=True
    )
    user_id = fields.text(
        "the person whom the agent works for, of events without a user",
        optional=True,
        validate=_text(MAX_USER_CHARS),
    )
    agent_version = fields.text(
        "the release of the agent, of events without one",
        optional=True,
        validate=_text(MAX_VERSION_CHARS),
    )
    tags = fields.values("tags of events without any, comma-separated", validate=_require_tags)
    attributes = fields.mapping(
        f"attributes, as `{PREFIX}plan=pro`, of events without one of that key; at most"
        f" {MAX_ATTRIBUTES}",
        data_key=_ATTRIBUTE,
        load_default=dict,
        values=String(),
    )

    @pre_load
    def collect_attributes(self, given: Mapping[str, Any], **_: object) -> dict[str, Any]:
        """Puts the parameters whose names begin with `attr.` together."""
        pairs = {name: value for name, value in given.items() if name.startswith(PREFIX)}
        attributes = {name.removeprefix(PREFIX): value for name, value in pairs.items()}
        _require_attributes(attributes)
        others = {name: given[name] for name in given if name not in (_ATTRIBUTE, *pairs)}
        return {**others, _ATTRIBUTE: attributes}


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
    """The result of an import. `events` are accepted, duplicate, replaced, or left alone."""

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
    replaced = fields.integer("events that take the places of stored ones, with `replace`")
