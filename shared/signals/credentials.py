"""What credentials look like, and the SQL that finds them in payloads without ever selecting one.

A pattern is specific where the text itself tells what it is; a general one, a password or a bearer
token, counts only in an event that has no specific one. The database tells hashes of what it finds.
"""

from typing import NamedTuple

from shared.signals import sql


class Pattern(NamedTuple):
    """`regex` captures what is secret; `needles`: a payload without any of them has no match.

    `shown` is how every match begins. A match has to have a digit, as nearly all that are made at
    random do, and words and placeholders do not.
    """

    kind: str
    shown: str
    needles: tuple[str, ...]
    regex: str
    is_specific: bool = True


# Where a word begins, after a line break or tab as JSON spells them too.
_START = r"(?:\b|\\[nrt])"
# A quote of JSON within JSON has backslashes before it.
_QUOTES = r"[\"'\\]*"
# What stands before a key, and after the name of a password: neither `task-list` nor `the password
# is` costs a regular expression then.
_BEFORE = (" ", '"', "'", "`", "=", ":", "(", "[", ",", ";", ">", "/", "\\n", "\\r", "\\t")
_AFTER = ("=", ":", '"', "'", "\\", " =", " :")
PATTERNS = (
    Pattern(
        "AWS access key", "AKIA", ("AKIA", "ASIA"), rf"{_START}((?:AKIA|ASIA)[A-Z0-9]{{16}})\b"
    ),
    Pattern(
        "AWS secret key",
        "secr",
        ("ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY"),
        rf"(?i)secret_?access_?key{_QUOTES}\s*[:=]\s*{_QUOTES}([A-Za-z0-9/+]{{40}})\b",
    ),
    Pattern(
        "GitHub token",
        "gh",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"{_START}(gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_[A-Za-z0-9_]{{50,}})",
    ),
    Pattern("GitLab token", "glpa", ("glpat-",), rf"{_START}(glpat-[A-Za-z0-9_-]{{20,}})"),
    Pattern("Slack token", "xox", ("xox",), rf"{_START}(xox[abeoprs]-[A-Za-z0-9-]{{16,}})"),
    Pattern(
        "Slack webhook",
        "http",
        ("hooks.slack.com",),
        r"(hooks\.slack\.com\\?/services\\?/T[A-Z0-9]+\\?/B[A-Z0-9]+\\?/[A-Za-z0-9]{16,})",
    ),
    Pattern("Stripe key", "k_li", ("k_live_",), rf"{_START}([rs]k_live_[A-Za-z0-9]{{16,}})"),
    Pattern("Anthropic key", "sk-a", ("sk-ant-",), rf"{_START}(sk-ant-[A-Za-z0-9_-]{{20,}})"),
    Pattern(
        "OpenAI key",
        "sk-",
        tuple(f"{before}sk-" for before in _BEFORE),
        # Of one piece, or with a prefix; names with dashes, as of styles, have no piece so long.
        rf"{_START}(sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{{20,}}|[A-Za-z0-9]{{20,}}))",
    ),
    Pattern("Google API key", "AIza", ("AIza",), rf"{_START}(AIza[A-Za-z0-9_-]{{35}})"),
    Pattern("Google token", "ya29", ("ya29.",), rf"{_START}(ya29\.[A-Za-z0-9_-]{{20,}})"),
    Pattern(
        "private key",
        "----",
        ("PRIVATE KEY",),
        # With what is between the lines: a mere mention is none.
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\\rn]*([A-Za-z0-9+/=]{32,})",
    ),
    Pattern(
        "JSON web token",
        "eyJ",
        ("eyJ",),
        rf"{_START}(eyJ[A-Za-z0-9_-]{{10,}}\.eyJ[A-Za-z0-9_-]{{10,}}\.[A-Za-z0-9_-]{{16,}})",
    ),
    Pattern(
        "bearer token",
        "Bear",
        ("earer ", "EARER "),
        r"(?i)bearer ([A-Za-z0-9._~+/-]{20,})",
        is_specific=False,
    ),
    Pattern(
        "password",
        "pass",
        tuple(
            f"{name}{after}"
            for name in ("assword", "ASSWORD", "asswd", "ASSWD", "pwd", "PWD")
            for after in _AFTER
        ),
        # Not what begins like a path, a variable or a placeholder.
        rf"(?i)(?:password|passwd|pwd){_QUOTES}\s*[:=]\s*{_QUOTES}"
        r"([A-Za-z0-9!@#%^&+=_-][^\s\"'\\,;&<>{}()\[\]|*]{5,})",
        is_specific=False,
    ),
)
NEEDLES = tuple(needle for pattern in PATTERNS for needle in pattern.needles)
# Runs of x stand where somebody has taken a secret out.
_IS_RANDOM = r"match(one, '[0-9]') AND NOT match(one, '(?i)x{6}')"


def hashes_of(pattern: Pattern) -> str:
    """SQL of an array: the hashes of the different matches in `payload`, empty without any."""
    matches = f"extractAll(payload, {sql.text(pattern.regex)})"
    return (
        f"arrayDistinct(arrayMap(one -> sipHash64(one), arrayFilter(one -> {_IS_RANDOM},"
        f" {matches})))"
    )


def may_have(needles: tuple[str, ...]) -> str:
    """SQL of: `payload` has one of these, which is cheap to tell."""
    return f"multiSearchAny(payload, [{', '.join(map(sql.text, needles))}])"


def has_specific() -> str:
    """SQL of: `payload` has a match of a specific pattern."""
    specific = [pattern for pattern in PATTERNS if pattern.is_specific]
    return f"notEmpty(arrayConcat({', '.join(map(hashes_of, specific))}))"


def found_in_payload(*, with_general: bool) -> str:
    """SQL of an array of (kind, hashes), one for each pattern that matches `payload`."""
    specific, general = (
        ", ".join(
            f"({sql.text(pattern.kind)}, {hashes_of(pattern)})"
            for pattern in PATTERNS
            if pattern.is_specific is wanted
        )
        for wanted in (True, False)
    )
    certain = f"arrayFilter(one -> notEmpty(one.2), [{specific}])"
    if not with_general:
        return certain
    likely = f"arrayFilter(one -> notEmpty(one.2), [{general}])"
    return f"if(notEmpty({certain} AS certain), certain, {likely})"
