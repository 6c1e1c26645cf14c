"""The language model of the assistant: it streams the chunks of a chat completion, or fails."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec


class ModelFailed(Exception):
    """The model gave no answer; the message is a sentence for the person."""


class ModelRefused(ModelFailed):
    """The model's server did not take the question, so no tokens were used."""


class Usage(msgspec.Struct):
    """The tokens of one answer."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class CallPiece(msgspec.Struct):
    """A piece of a call of a tool; pieces with one `index` belong together."""

    index: int = 0
    id: str | None = None
    function: "_Function | None" = None


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[CallPiece] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class Piece(msgspec.Struct):
    """One chunk of an answer."""

    choices: list[_Choice] = []
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """Returns the text of the chunk."""
        return "".join(one.delta.content for one in self.choices if one.delta and one.delta.content)

    @property
    def is_last(self) -> bool:
        """Returns whether the model says that its answer ends here; only usage may follow."""
        return any(one.finish_reason for one in self.choices)

    @property
    def calls(self) -> list[CallPiece]:
        """Returns the pieces of calls of the chunk."""
        return [call for one in self.choices if one.delta for call in one.delta.tool_calls or ()]


class Model(Protocol):
    """A language model."""

    def stream(
        self, model: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> Iterator[Piece | None]:
        """Yields the chunks of one answer, and None now and then while none comes.

        Closing the iterator ends the call. Raises `ModelFailed`.
        """
