"""The forms in which packages wrap and mark messages and their parts."""

from typing import Any

# LangChain, OpenInference and choices wrap a message in one of these members.
WRAPPERS = ("message", "kwargs", "data")
_ROLES = {
    "human": "user",
    "humanmessage": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "function": "tool",
    "model": "assistant",
}
# The types of LangChain's messages, which stand where others have the types of parts.
_LANGCHAIN_TYPES = frozenset({"human", "ai", "system", "tool", "function", "chat", "developer"})
_FINAL_ROLES = frozenset({"user", "assistant", "system", "developer", "tool"})
_KNOWN_ROLES = _FINAL_ROLES | _ROLES.keys()
_MESSAGE_MEMBERS = frozenset({"role", "content", "kwargs", "data", "tool_calls"})
_PART_MEMBERS = frozenset({"message_content", "toolCallId"})


def unwrapped(raw: dict[str, Any]) -> dict[str, Any]:
    """Returns a message without what LangChain, OpenInference and choices wrap it in."""
    for name in WRAPPERS:
        if isinstance(inner := raw.get(name), dict) and "content" not in raw:
            if "role" not in inner and "type" not in inner:
                inner = {**inner, "type": raw.get("role") or _class_of(raw)}
            raw = inner
    return raw


def _class_of(raw: dict[str, Any]) -> str:
    names = raw.get("id")
    return str(names[-1]).removesuffix("Chunk") if isinstance(names, list) and names else ""


def role_of(raw: dict[str, Any], role: str) -> str:
    """Returns the role of a message: the one that it names in its own way, else `role`."""
    named = raw.get("role")
    if not named or type(named) is not str:
        named = raw.get("type")
        if type(named) is not str or named.lower() not in _KNOWN_ROLES:
            return role
    return named if named in _FINAL_ROLES else _ROLES.get(named.lower(), named)


def is_message(value: dict[str, Any]) -> bool:
    """Returns whether an object is a message, wrapped or not."""
    if "role" in value or "parts" in value or "kwargs" in value:
        return True
    if isinstance(inner := value.get("message"), dict):
        return not _MESSAGE_MEMBERS.isdisjoint(inner)
    kind = value.get("type")
    return (
        type(kind) is str and kind in _LANGCHAIN_TYPES and ("content" in value or "data" in value)
    )


def is_part(value: dict[str, Any]) -> bool:
    """Returns whether an object is a part of a message's content."""
    # The result of a model in LangChain has a type like a part.
    if is_message(value) or "generations" in value:
        return False
    return type(value.get("type")) is str or not _PART_MEMBERS.isdisjoint(value)


def is_pair(values: list[Any]) -> bool:
    """Returns whether a list is LangChain's short form of a message: a role and a text."""
    if len(values) != 2 or not all(type(value) is str for value in values):
        return False
    return values[0].lower() in _KNOWN_ROLES


def is_plain(raw: dict[str, Any]) -> bool:
    """Returns whether a message of two members is a role and a text, as most messages are."""
    if "role" not in raw or "content" not in raw:
        return False
    role, content = raw["role"], raw["content"]
    return (
        type(role) is str and role in _FINAL_ROLES and type(content) is str and content[:1] != "["
    )
