"""The spellings of a model's name by its maker, by clouds and by gateways."""

import re

_MAKERS = (
    "ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai|openai|qwen|xai"
    "|zai"
)


def _compiled(*rules: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in rules)


# The name of a maker before that of the model; each is applied in this order.
_PREFIXES = _compiled(
    # us.anthropic.claude-…, where the region is optional; the whole of deepseek.r1 is a name.
    (r"^(?:[a-z-]+\.)?deepseek\.(?!deepseek)", "deepseek-"),
    (rf"^(?:[a-z-]+\.)?(?:{_MAKERS})\.", ""),
)
# Applied after them, in this order.
_SPELLINGS = _compiled(
    (r"^(?:cohere|databricks|meta|open|zai)-", ""),
    # llama3.1, Llama-3.1 and llama-v3p1; qwen3 and qwen-3.
    (r"^(gemma|llama|phi|qwen)[ _-]?v?(?=\d)", r"\1-"),
    # 4.6, 4-6 and 4p6; Azure writes 35 for 3.5.
    (r"(?<=\d)[.p](?=\d)", "-"),
    (r"^gpt-35(?!\d)", "gpt-3-5"),
    # claude-3-5-sonnet, and claude-4.5-sonnet for claude-sonnet-4.5.
    (r"^claude-(\d(?:-\d)?)-(haiku|opus|sonnet)\b", r"claude-\2-\1"),
)
# Texts after a name: the long window of Claude Code, the version of a cloud, the date of a release
# as year, month and day, as year and month, or as month and day.
_SUFFIXES = _compiled(
    (r"\[1m\]$", ""),
    (r"-v?\d+:\d+$|-v1$|@[\w.-]+$", ""),
    (r"-20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$", ""),
    (r"-(?:2[3-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01]))$", ""),
)
# A date as gateways write it, and as most makers do.
_DATES = _compiled(
    (r"-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)", r"-\1-\2-\3"),
)


def normal(name: str) -> str:
    """Returns the same text for all spellings of a name in lower case; its suffixes stay."""
    return _applied(_SPELLINGS, _applied(_PREFIXES, name))


def without_path(name: str) -> tuple[str, ...]:
    """Returns the part of a name in lower case after its last slash, then that after its colon.

    The text before a colon may be a provider (`openai:gpt-4o`) or mark a tuned model (`ft:`).
    """
    last = name.rsplit("/", 1)[-1]
    return (last, last.partition(":")[2]) if ":" in last else (last,)


def spellings(model: str) -> tuple[str, ...]:
    """Returns the names under which a model may be listed, the one that was sent first.

    All are in lower case. The others lack prefixes, then also the suffixes.
    """
    sent = model.lower()
    last = without_path(sent)
    bare = [_applied(_PREFIXES, name) for name in last]
    dashed = [_applied(_DATES, name) for name in bare]
    short = [_applied(_SUFFIXES, name) for name in bare]
    return tuple(dict.fromkeys((sent, *last, *bare, *dashed, *short)))


def _applied(rules: tuple[tuple[re.Pattern[str], str], ...], name: str) -> str:
    for pattern, replacement in rules:
        name = pattern.sub(replacement, name)
    return name
