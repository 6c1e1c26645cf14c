"""The names of attributes, and the bounds of dimensions."""

import re

MAX_USER_CHARS = 256
MAX_VERSION_CHARS = 128
MAX_TAGS, MAX_TAG_CHARS = 32, 64
MAX_ATTRIBUTES, MAX_KEY_CHARS, MAX_VALUE_CHARS = 32, 64, 256

# In these events `user_id` names the person who acted, and not the one the agent works for.
NAME_AN_ACTOR = frozenset({"agent_pause", "agent_resume", "human_pause", "human_interrupt"})
# In place of a value that is never stored.
REDACTED = "[redacted]"

# A parameter of a read that filters by an attribute is `attr.<key>`.
PREFIX = "attr."
MAX_ATTRIBUTE_FILTERS = 8
# The value that stands for any.
ANY = "*"

_KEY = re.compile(rf"[A-Za-z0-9_.:/-]{{1,{MAX_KEY_CHARS}}}")


def is_key(text: str) -> bool:
    """Returns whether an attribute may have this key."""
    return _KEY.fullmatch(text) is not None
