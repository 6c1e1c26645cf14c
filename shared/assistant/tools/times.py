"""The range of time that many tools take."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from shared.assistant.tools.tool import Arguments
from shared.foundation.core.errors import Invalid

Moment = Annotated[datetime, Meta(tz=True, description="RFC 3339 with a time zone")]


class InRange(Arguments):
    """Arguments with a range of time: from `since`, inclusive, to `until`, exclusive."""

    since: Moment | None = None
    until: Moment | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and self.since >= self.until:
            raise Invalid("since must be before until")

    @property
    def bounds(self) -> dict[str, datetime | None]:
        """Returns the range as filters have it."""
        return {"ts_from": self.since, "ts_to": self.until}
