"""Request and response schemas of the routes of evaluators."""

from typing import Any, get_args

import marshmallow as ma
from marshmallow import Schema

from shared.evaluation.evaluators import fields as writable
from shared.evaluation.evaluators import versions
from shared.evaluation.evaluators.activity import HealthState
from shared.evaluation.evaluators.builtins import OTLP_KIND
from shared.evaluation.evaluators.declarations import MAX_RESULTS
from shared.evaluation.evaluators.specs import KINDS
from web import fields
from web.evaluators.shapes import RESULT, SPEC
from web.params import Body


def _written(name: str) -> fields.Field:
    """Returns the field of a body for a writable field; `shared` checks its value."""
    one = writable.WRITABLE[name]
    metadata = {**one.schema, "description": one.about}
    if one.may_be_null:
        # `allow_none` adds null to the type.
        metadata["type"] = one.schema["type"][0]
    return ma.fields.Raw(required=False, allow_none=one.may_be_null, metadata=metadata)


def _any(about: str, **details: Any) -> fields.Field:
    """Returns a field whose value `shared` checks; an absent one differs from null."""
    return fields.raw(about, null=True, required=False, **details)


class SecretsBody(Body):
    """Secrets to set; null removes one, and an absent one stays."""

    token = _any("the bearer token of a push evaluator", type="string")
    api_key = _any("the bearer token of a judge's server", type="string")
    headers = _any(
        "further headers of a push evaluator, by name",
        type="object",
        additionalProperties={"type": ["string", "null"]},
    )


class VersionBody(Body):
    """A version as a whole. It never changes, and the same again is the same version."""

    version = _any(
        f"1 to {versions.MAX_NAME_BYTES} bytes; by default the next number",
        type="string",
        example="of-example",
    )
    note = _any(
        "what is new", type="string", maxLength=versions.MAX_NOTE_CHARS, example="A note of example"
    )
    spec = fields.shaped(
        "what it does; its fields depend on the kind. Kind pull: nothing",
        shape=SPEC,
        null=True,
        required=False,
        example={"url": "https://example.test/evaluate"},
    )
    condition = fields.mapping(
        "the sessions that it is for (docs/use/evaluators.md); null: all",
        null=True,
        required=False,
    )
    results = fields.list_of(
        fields.shaped(shape=RESULT),
        f"its results, at most {MAX_RESULTS}; sql needs them, a judge has exactly one",
        null=True,
        required=False,
    )
    large = _any(
        "what becomes of a session above 25 MiB: it is cut, sent as turns or in pages, or an error",
        type="string",
        enum=list(versions.LARGE),
        default=versions.LARGE[0],
    )
    activate = _any("it becomes the active version", type="boolean", default=True)


class EvaluatorChangeBody(
    Body.from_dict(  # type: ignore[misc] # the table of writable fields is the base
        {name: _written(name) for name in writable.WRITABLE}, name="WritableFields"
    )
):
    """The fields to change; absent ones stay."""

    key = _any("if present, the same: it never changes", type="string")
    kind = _any("if present, the same: it never changes", type="string", enum=list(KINDS))


class EvaluatorBody(EvaluatorChangeBody):
    """An evaluator. Absent fields get their defaults."""

    key = fields.raw(
        "it never changes",
        type="string",
        pattern=f"^{writable.KEY_PATTERN}$",
        example="of_example",
    )
    kind = fields.raw("it never changes", type="string", enum=list(KINDS))
    version = fields.nested(
        VersionBody,
        "the first version; without one nothing runs",
        optional=True,
        example={"spec": {"url": "https://example.test/evaluate"}},
    )
    secrets = fields.nested(SecretsBody, optional=True)


class ActiveVersionBody(Body):
    """The version to activate."""

    version = fields.raw("its name; null: nothing runs", null=True, type="string", example=None)


class SecretNames(Schema):
    """The secrets that an evaluator has; their values are never shown."""

    token = fields.flag()
    api_key = fields.flag()
    headers = fields.texts("the names of headers with a secret value")


class ChangedSecrets(Schema):
    """The secrets after a change."""

    secrets = fields.nested(SecretNames)


class HealthRow(Schema):
    """Whether an evaluator works."""

    state = fields.text(
        "open: no calls until `retry_at`; no_worker: none of the pool for 60 s; stopped: off, or"
        " without an active version",
        enum=list(get_args(HealthState)),
    )
    since = fields.moment("of the failures in a row, or when a worker was last seen", null=True)
    failures = fields.integer("in a row")
    last_error = fields.text(null=True)
    retry_at = fields.moment(null=True)


class MonthRow(Schema):
    """What counts for the budget of this month."""

    since = fields.moment("when the month began, in UTC", data_key="from")
    evaluations = fields.integer()
    tokens = fields.integer()
    usd = fields.number()


class LastDayRow(Schema):
    """The ends of runs in 24 hours."""

    done = fields.integer()
    error = fields.integer()
    timeout = fields.integer()
    skipped = fields.integer()


class BudgetAmounts(Schema):
    """Most of a calendar month in UTC."""

    evaluations = fields.integer(null=True)
    tokens = fields.integer(null=True)
    usd = fields.number(null=True)


class EvaluatorRow(Schema):
    """An evaluator."""

    key = fields.text()
    kind = fields.text("`otlp` is built in", enum=[*KINDS, OTLP_KIND])
    builtin = fields.flag("true: this deployment configures it")
    name = fields.text()
    description = fields.text()
    labels = fields.texts()
    enabled = fields.flag()
    sample = fields.number("percentage of the sessions")
    sample_seed = fields.text()
    priority = fields.integer()
    concurrency = fields.integer()
    timeout_ms = fields.integer()
    max_attempts = fields.integer()
    poll_max_secs = fields.integer()
    idle_secs = fields.integer(null=True)
    rescore = fields.text(enum=list(writable.RESCORE))
    rescore_max = fields.integer()
    budget = fields.nested(BudgetAmounts, null=True)
    pool = fields.uuid("of the kind pull", null=True)
    archived_at = fields.moment("when it was deleted", null=True)
    active_version = fields.text(null=True)
    health = fields.nested(HealthRow)
    month = fields.nested(MonthRow)
    last_24h = fields.nested(LastDayRow)
    last_result_at = fields.moment(null=True)
    secrets = fields.nested(SecretNames)
    created_by = fields.author(null=True)
    created_at = fields.moment("null: it is built in", null=True)
    updated_at = fields.moment("null: it is built in", null=True)


class EvaluatorQuery(Schema):
    """The evaluators to list."""

    archived = fields.flag("deleted ones, too", load_default=False)


class EvaluatorList(Schema):
    """The built-in evaluators, then the organization's own by key."""

    evaluators = fields.rows(EvaluatorRow)


class VersionRow(Schema):
    """A version of an evaluator, with its evaluations."""

    evaluator = fields.text("the key")
    version = fields.text()
    number = fields.integer("counts the versions from 1")
    note = fields.text()
    spec = fields.shaped(
        "without settings:write a URL shows its origin, and headers their names", shape=SPEC
    )
    condition = fields.mapping(null=True)
    results = fields.list_of(fields.shaped(shape=RESULT))
    large = fields.text(enum=list(versions.LARGE))
    checksum = fields.text(
        "SHA-256 of kind, spec, condition, results and large as JSON: sorted, without blanks"
    )
    active = fields.flag()
    published_by = fields.author(null=True)
    published_at = fields.moment()
    evaluations = fields.integer()
    first_result_at = fields.moment(null=True)
    last_result_at = fields.moment(null=True)


class VersionList(Schema):
    """The versions of an evaluator, newest first."""

    versions = fields.rows(VersionRow)
