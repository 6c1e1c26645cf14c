"""A small Markdown reader for the tests of the documents."""

import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
# Images and links. A target may not hold spaces or brackets; ours never do.
_LINK = re.compile(r"\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the word after its fence, and the lines inside."""

    language: str
    text: str


def documents() -> list[Path]:
    """Returns the project's own documents."""
    folders = ("", "docs/**/", "collector/", "evaluator/")
    return [path for folder in folders for path in PROJECT.glob(f"{folder}*.md")]


def blocks(text: str) -> list[Block]:
    """Returns the fenced blocks, in order."""
    return [Block(match[2], match[3]) for match in _FENCE.finditer(text)]


def prose(text: str) -> str:
    """Returns the text without its fenced blocks, where `#` starts a comment and not a heading."""
    return _FENCE.sub("", text)


def section(text: str, heading: str) -> str:
    """Returns the text below a heading, up to the next one of the same rank or a higher one."""
    start = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert start is not None, f"there is no heading {heading!r}"
    rest = text[start.end() :]
    end = re.search(rf"^#{{1,{len(start[1])}}} \S", _hidden_blocks(rest), re.MULTILINE)
    return rest[: end.start()] if end else rest


def links(text: str) -> list[str]:
    """Returns the targets of all links and images."""
    return _LINK.findall(prose(text))


def anchors(text: str) -> set[str]:
    """Returns the anchors that links can name after `#`: the headings as GitHub spells them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in _HEADING.findall(prose(text))
    }


def rows(text: str) -> list[list[str]]:
    """Returns the cells of every row of every table, including headers and rulers."""
    lines = [line for line in prose(text).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _hidden_blocks(text: str) -> str:
    """Returns the text with blanks for every fenced block, so that positions stay the same."""
    return _FENCE.sub(lambda match: " " * len(match[0]), text)
