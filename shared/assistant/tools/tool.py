"""The definition of a tool."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from shared.assistant.asker import Asker
from shared.foundation.core.errors import Invalid
from shared.foundation.core.json_words import in_json_words

MAX_ROWS = 200
MAX_RESULT_BYTES = 64 * 1024

Text = Annotated[str, Meta(max_length=256)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=50)]
Rows = Annotated[int, Meta(ge=1, le=MAX_ROWS, description="maximum number of rows")]


class ToolResult(NamedTuple):
    """The answer of a tool: an object for JSON, with links to pages, and the number of its rows.

    `rows` is None for one thing.
    """

    value: dict[str, Any]
    rows: int | None = None


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. Their JSON schema derives from the fields."""


class Nothing(Arguments):
    """No arguments."""


class Tool(NamedTuple):
    """A tool, the permission that it needs, and the function that runs it."""

    name: str
    permission: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Asker, Any], ToolResult]

    @property
    def schema(self) -> dict[str, Any]:
        """Returns the JSON schema of the arguments, in one piece."""
        _, parts = msgspec.json.schema_components([self.arguments], ref_template="#/$defs/{name}")
        whole = parts.pop(self.arguments.__name__)
        whole.pop("title", None)
        whole.pop("description", None)
        return {**whole, "$defs": parts} if parts else whole

    def call(self, asker: Asker, arguments: bytes) -> ToolResult:
        """Runs the tool with JSON arguments.

        Raises `Forbidden`, `Invalid` for arguments that do not fit, and the errors of the read.
        """
        asker.require(self.permission)
        try:
            given = msgspec.json.decode(arguments or b"{}", type=self.arguments)
        except msgspec.ValidationError as error:
            raise self._unfit(" ".join(in_json_words(error)).lstrip()) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._unfit(str(error)) from None
        return self.run(asker, given)

    def _unfit(self, reason: str) -> Invalid:
        return Invalid(f"the arguments of {self.name} do not fit: {reason}")
