"""The ways of docs/send/send.md: which blocks each consists of, and what stands for the agent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tests.support import markdown
from tests.support.markdown import PROJECT, Block

SEND = (PROJECT / "docs/send/send.md").read_text()
VARIABLES = "OpenTelemetry"
QUESTION = "Weather in Oslo?"

_ASK = f'.create(model="gpt-5-mini", messages=[{{"role": "user", "content": "{QUESTION}"}}]'
OPENAI = f"import openai; openai.OpenAI().chat.completions{_ASK})"
ANTHROPIC = f"import anthropic; anthropic.Anthropic().messages{_ASK}, max_tokens=9)"
LANGCHAIN = f"""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    agent = create_agent(ChatOpenAI(model="gpt-5-mini"), name="weather")
    agent.invoke({{"messages": [("user", "{QUESTION}")]}})"""
PYDANTIC_AI = f"""
from pydantic_ai import Agent
Agent("openai-chat:gpt-5-mini", name="weather").run_sync("{QUESTION}")"""
CODEX = f"codex exec --skip-git-repo-check '{QUESTION}'"

AGENT = {"agent_start", "agent_end"}
CALL = {"model_request", "model_response"}
TURN = {"human_input", "model_response"}


@dataclass(frozen=True)
class Way:
    """A way to send: some blocks of a section, in order, and the types of events that arrive.

    `agent` is the Python in place of "your agent", `before` and `after` are further commands.
    `goes_on`: the blocks stand in place of the instrumentor of OpenInference. `stays`: the last
    command does not end by itself. `variables`: after those of OpenTelemetry.
    """

    heading: str
    blocks: Sequence[int]
    types: set[str]
    agent: str = ""
    before: str = ""
    after: str = ""
    goes_on: bool = False
    stays: bool = False
    variables: bool = True

    def parts(self) -> Iterator[Block]:
        """Yields the blocks as they are run: Python with the agent in its place."""
        yield Block("sh", self.before)
        for block in (blocks_of(self.heading)[number] for number in self.blocks):
            yield Block("python", self._python(block.text)) if block.language == "python" else block
        yield Block("sh", self.after)

    def _python(self, code: str) -> str:
        if self.goes_on:
            [whole] = [one.text for one in blocks_of("OpenInference") if one.language == "python"]
            lines = [line for line in whole.splitlines() if "OpenAIInstrumentor" not in line]
            start = next(number for number, line in enumerate(lines) if line.startswith("with "))
            code = "\n".join([*lines[:start], code, *lines[start:]])
        there = re.sub(r"\.\.\.  # your agent", lambda _: self.agent, code)
        return there if there != code else f"{code}\n{self.agent}"


WAYS = {
    "curl": Way("curl", [0], AGENT, variables=False),
    "python": Way("OpenTelemetry in Python", [0, 1], AGENT | CALL, OPENAI),
    "javascript": Way("OpenTelemetry in JavaScript", [0, 1], AGENT),
    "openinference": Way("OpenInference", [0, 1], CALL, OPENAI),
    "langchain": Way("LangChain", [0, 1], AGENT | CALL, LANGCHAIN, goes_on=True),
    "anthropic": Way("Anthropic", [0, 1], CALL, ANTHROPIC, goes_on=True),
    "logfire": Way("Logfire and Pydantic AI", [0, 1], AGENT | CALL, PYDANTIC_AI),
    "logfire itself": Way(
        "Logfire and Pydantic AI", [0, 2], AGENT | CALL, PYDANTIC_AI, variables=False
    ),
    "traceloop": Way("Traceloop", [0, 1], CALL, OPENAI, variables=False),
    "langfuse": Way("Langfuse", [0, 1], AGENT, "pass", variables=False),
    "claude telemetry": Way("Claude Code", [0], TURN, variables=False),
    "claude transcripts": Way(
        "Claude Code", [1], TURN, before="claude", stays=True, variables=False
    ),
    "codex transcripts": Way("Codex", [0], TURN, before=CODEX, stays=True, variables=False),
    "codex telemetry": Way("Codex", [1], TURN, after=CODEX, variables=False),
    "failproofai-sdk": Way(
        "failproofai-sdk", [0, 1, 2], {"agent_start", "tool_use"}, stays=True, variables=False
    ),
    "fp-cloud-cli": Way("fp-cloud-cli", [0], {"agent_start"}, variables=False),
    "files": Way("Files", [0], {"agent_start"}, variables=False),
}


@cache
def blocks_of(heading: str) -> list[Block]:
    """Returns the blocks of a section that a reader runs, without answers."""
    text = markdown.section(SEND, heading)
    if heading == VARIABLES:
        text = text.partition("\n### ")[0]
    return [block for block in markdown.blocks(text) if block.language != "json"]


def headings() -> list[str]:
    """Returns the headings of the sections."""
    return re.findall(r"^##+ (.+)$", SEND, re.MULTILINE)


def packages(tool: str) -> list[str]:
    """Returns what the page installs by a tool; the wheel of the collector is a file."""
    text = SEND.replace("\\\n", " ")
    lines = re.findall(rf"^{tool} install (.+)$", text, re.MULTILINE)
    names = [name for line in lines for name in line.split() if not name.endswith(".whl")]
    return list(dict.fromkeys(names))


def version_of(program: str) -> str:
    """Returns the version that the page names for a program which it does not install."""
    found = re.search(rf"\({program} ([\d.]+)\)", SEND)
    assert found is not None
    return found[1]
