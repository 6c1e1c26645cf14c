"""Types of fields that marshmallow lacks, and the base of bodies."""

import re
from datetime import UTC, datetime
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields

from shared.foundation.core.clock import format_optional_ts

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)")
_SEPARATOR = re.compile(r"(?<!\\),")


def split_values(text: str) -> list[str]:
    r"""Splits `a,b\,c` into `["a", "b,c"]` and drops empty parts."""
    return [part.replace("\\,", ",") for part in _SEPARATOR.split(text) if part]


class ListField(fields.Field[list[str]]):
    r"""Several values in one parameter: comma-separated, `\,` is a comma inside a value."""

    default_error_messages = {"invalid": "must be text"}  # noqa: RUF012 as marshmallow declares it

    def __init__(self, **options: Any) -> None:
        options.setdefault("load_default", None)
        super().__init__(**options)

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> list[str]:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        return split_values(value)


class AttributesField(fields.Dict):
    """Parameters whose names share a prefix, each with several values as `ListField` has them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(keys=fields.String(), values=fields.String(), **options)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> dict[str, list[str]]:
        given = super()._deserialize(value, *args, **kwargs)  # type: ignore[no-untyped-call]
        return {name: split_values(text) for name, text in given.items()}


def values(what: str, choices: tuple[str, ...] = ()) -> ListField:
    """Returns a filter field that takes several values, limited to `choices` if given."""

    def check(given: list[str]) -> None:
        # A marshmallow validator would make the OpenAPI document say that only one value may be
        # given.
        if choices and not set(given).issubset(choices):
            raise ValidationError(f"must be one of {', '.join(choices)}")

    return ListField(
        load_default=list,
        validate=check,
        metadata={"description": f"{what}; several values, comma-separated, match any of them"},
    )


class Timestamp(fields.Field[datetime]):
    """A moment in RFC 3339 with an explicit zone, loaded as a datetime in UTC."""

    default_error_messages = {  # noqa: RUF012 as marshmallow declares it
        "invalid": "must be an RFC 3339 timestamp with a zone, like 2026-11-01T08:00:00Z"
    }

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> datetime:
        if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
            raise self.make_error("invalid")
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.make_error("invalid") from None

    def _serialize(self, value: datetime | None, *_args: Any, **_kwargs: Any) -> str | None:
        return format_optional_ts(value)


class _BoundedInteger(fields.Integer):
    """A number of at least `least`. A number above `most` counts as `most`."""

    def __init__(self, least: int, most: int, default: int, about: str) -> None:
        self._least, self._most = least, most
        # No "maximum": clients that validate their requests would refuse values that are accepted
        # here.
        metadata = {"minimum": least, "description": about}
        super().__init__(load_default=default, metadata=metadata)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        number = super()._deserialize(value, *args, **kwargs)
        if number is None or number < self._least:
            raise ValidationError(f"must be at least {self._least}")
        return min(number, self._most)


class Limit(_BoundedInteger):
    """A number of rows: at least 1; a number above `cap` counts as `cap`."""

    def __init__(self, *, default: int, cap: int) -> None:
        about = f"rows per page; a larger number than {cap} counts as {cap}"
        super().__init__(1, cap, default, about)


class Offset(_BoundedInteger):
    """The number of rows to skip. The page is empty beyond the end of the list."""

    def __init__(self) -> None:
        # No list is this long, and PostgreSQL accepts the number.
        super().__init__(0, 2**31, 0, "rows to skip")


class Switch(fields.Boolean):
    """A strict JSON boolean: marshmallow's also takes 1 and 0, whatever values are configured."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Body(Schema):
    """Base of JSON bodies, including nested ones: unknown fields are ignored."""

    class Meta:
        """Marshmallow's options."""

        unknown = EXCLUDE
