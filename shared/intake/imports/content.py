"""The contents of messages and results: a text, or a list of parts."""

from shared.intake.imports.node import Node
from shared.intake.imports.outcomes import given

# The types of parts with words.
_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


def text_of(message: Node, key: str = "content") -> str:
    """Returns the words of a content, parts joined by line breaks."""
    text = message.text(key)
    if text:
        return text
    parts = [part.text("text") for part in message.nodes(key) if part.text("type") in _TEXTS]
    return "\n".join(filter(None, parts))


def shown(holder: Node, key: str) -> object:
    """Returns a content to store: text if all parts are, else its parts without the data of files.

    Any other JSON stays as it is, and a missing value is None.
    """
    parts = holder.nodes(key)
    if not parts or len(parts) != len(holder.raws(key)):
        return holder.text(key) or holder.value(key)
    if all(part.text("type") in _TEXTS for part in parts):
        return text_of(holder, key)
    return [_part(part) for part in parts]


def _part(part: Node) -> object:
    kind = part.text("type")
    if kind in _TEXTS:
        return {"type": "text", "text": part.text("text")}
    source, url = part.node("source"), part.text("image_url")
    if "data" in source:
        return given(type=kind, media_type=source.text("media_type"))
    if url.startswith("data:"):
        return given(type=kind, media_type=url.removeprefix("data:").partition(";")[0])
    return part.members
