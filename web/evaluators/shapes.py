"""The shapes of definitions for the document; `shared` checks and makes the values."""

import msgspec

from shared.evaluation.evaluators.declarations import ResultDeclaration
from web import shapes


class PushSpec(msgspec.Struct):
    """The address that gets sessions; readers without settings:write see its origin."""

    url: str
    headers: dict[str, str | None] = {}


class PullSpec(msgspec.Struct):
    """Nothing: workers of the pool have the code."""


class SqlSpec(msgspec.Struct):
    """A statement over the table `events`, with a row for each session."""

    sql: str


class JudgedParts(msgspec.Struct):
    """The parts of a session that a judge sees beside its messages."""

    tools: bool = True
    system: bool = False
    reasoning: bool = False


class MillionTokenPrices(msgspec.Struct):
    """Dollars for a million tokens."""

    input: float
    output: float


class JudgeSpec(msgspec.Struct):
    """A model and what it judges; without `base_url` it is a model of the deployment."""

    model: str
    criteria: str
    base_url: str | None = None
    instructions: str | None = None
    max_input_tokens: int = 24_000
    max_output_tokens: int = 1024
    show: JudgedParts | None = None
    usd_per_mtok: MillionTokenPrices | None = None


SPEC = shapes.any_of("EvaluatorSpec", (PushSpec, SqlSpec, JudgeSpec, PullSpec))
RESULT = shapes.any_of("ResultDeclarations", (ResultDeclaration,))
