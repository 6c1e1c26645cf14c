"""Patterns of credentials, and SQL that finds them in payloads without ever selecting one.

A pattern is specific if the text alone shows that it is a credential. A general pattern, such as a
password or a bearer token, counts only in events without a specific match. The database returns
only hashes of the matches.
"""

from typing import NamedTuple

from shared.foundation.clickhouse import literals


class Pattern(NamedTuple):
    """The pattern of one kind of credential; `regex` captures the secret part.

    A payload without any of the `needles` has no match. If `regex` begins with `(?i)`, needles are
    found in any case. `shown` is the common beginning of all matches, or empty if there is none.
    Except for AWS ids, a match must contain a digit: nearly all random secrets do, words and
    placeholders do not.
    """

    kind: str
    shown: str
    needles: tuple[str, ...]
    regex: str
    is_specific: bool = True


_IN_ANY_CASE = "(?i)"
# The start of a word, also after a line break, a tab or another character escaped as in JSON.
_START = r"(?:\b|\\[nrt]|\\u\w{4})"
# A quote inside JSON within JSON has backslashes before it.
_QUOTES = r"[\"'\\]*"
PATTERNS = (
    Pattern("AWS access key", "AKIA", ("AKIA",), rf"{_START}(AKIA[A-Z0-9]{{16}})\b"),
    Pattern("AWS temporary access key", "ASIA", ("ASIA",), rf"{_START}(ASIA[A-Z0-9]{{16}})\b"),
    Pattern(
        "AWS secret key",
        "",
        # Without `s` and `k`: these letters have a third case variant, which the needles do not
        # cover.
        ("ecretacce", "ecret_acce"),
        rf"{_IN_ANY_CASE}secret_?access_?key{_QUOTES}\s*[:=]\s*{_QUOTES}([A-Za-z0-9/+]{{40}})\b",
    ),
    Pattern(
        "GitHub token",
        "gh",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        rf"{_START}(gh[pousr]_[A-Za-z0-9]{{36,}})",
    ),
    Pattern(
        "GitHub fine-grained token",
        "github_pat_",
        ("github_pat_",),
        rf"{_START}(github_pat_[A-Za-z0-9_]{{50,}})",
    ),
    Pattern("GitLab token", "glpa", ("glpat-",), rf"{_START}(glpat-[A-Za-z0-9_-]{{20,}})"),
    Pattern("Slack token", "xox", ("xox",), rf"{_START}(xox[abeoprs]-[A-Za-z0-9-]{{16,}})"),
    Pattern(
        "Slack webhook",
        "hooks.slack.com",
        ("hooks.slack.com",),
        r"(hooks\.slack\.com\\?/services\\?/T[A-Z0-9]+\\?/B[A-Z0-9]+\\?/[A-Za-z0-9]{16,})",
    ),
    Pattern("Stripe key", "sk_live_", ("sk_live_",), rf"{_START}(sk_live_[A-Za-z0-9]{{16,}})"),
    Pattern(
        "Stripe restricted key", "rk_live_", ("rk_live_",), rf"{_START}(rk_live_[A-Za-z0-9]{{16,}})"
    ),
    Pattern("Anthropic key", "sk-a", ("sk-ant-",), rf"{_START}(sk-ant-[A-Za-z0-9_-]{{20,}})"),
    Pattern(
        "OpenAI key",
        "sk-",
        ("sk-",),
        # In one piece, or with a prefix. Names with dashes, such as styles, have no piece of this
        # length.
        rf"{_START}(sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{{20,}}|[A-Za-z0-9]{{20,}}))",
    ),
    Pattern("Google API key", "AIza", ("AIza",), rf"{_START}(AIza[A-Za-z0-9_-]{{35}})"),
    Pattern("Google token", "ya29", ("ya29.",), rf"{_START}(ya29\.[A-Za-z0-9_-]{{20,}})"),
    Pattern(
        "private key",
        "----",
        ("PRIVATE KEY",),
        # Includes the text between the lines, because a mere mention of them is no leak.
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
        "",
        ("bearer ",),
        rf"{_IN_ANY_CASE}bearer ([A-Za-z0-9._~+/-]{{20,}})",
        is_specific=False,
    ),
    Pattern(
        "password",
        "",
        ("password", "passwd", "pwd"),
        # Excludes values that begin like a path, a variable or a placeholder.
        rf"{_IN_ANY_CASE}(?:pa(?-i:[Ss]{{2}})w(?:or)?d|pwd){_QUOTES}\s*[:=]\s*{_QUOTES}"
        r"([A-Za-z0-9!@#%^&+=_-][^\s\"'\\,;&<>{}()\[\]|*]{5,})",
        is_specific=False,
    ),
)
# AWS ids have 16 characters of A-Z and 2-7, and one in 28 has no digit; their prefix distinguishes
# them from words. A run of x shows that somebody removed the secret.
_IS_RANDOM = r"match(one, '[0-9]|^A[KS]IA') AND NOT match(one, '(?i)x{6}')"


def _matches(pattern: Pattern) -> str:
    return f"extractAll(payload, {literals.text(pattern.regex)})"


def hashes_of(pattern: Pattern) -> str:
    """Returns SQL of an array with the hashes of the distinct matches in `payload`."""
    return (
        f"arrayDistinct(arrayMap(one -> sipHash64(one), arrayFilter(one -> {_IS_RANDOM},"
        f" {_matches(pattern)})))"
    )


def may_have() -> str:
    """Returns the cheap SQL condition that `payload` has a needle of some pattern.

    All patterns share one condition, so a match never depends on the set of patterns.
    """
    exact, any_case = (
        ", ".join(
            literals.text(needle)
            for pattern in PATTERNS
            if pattern.regex.startswith(_IN_ANY_CASE) is wanted
            for needle in pattern.needles
        )
        for wanted in (False, True)
    )
    return (
        f"(multiSearchAny(payload, [{exact}])"
        f" OR multiSearchAnyCaseInsensitive(payload, [{any_case}]))"
    )


def has_specific() -> str:
    """Returns the SQL condition that `payload` matches a specific pattern."""
    matches = ", ".join(_matches(pattern) for pattern in PATTERNS if pattern.is_specific)
    return f"arrayExists(one -> {_IS_RANDOM}, arrayConcat({matches}))"


def found_in_payload(*, with_general: bool) -> str:
    """Returns SQL of an array of (kind, hashes), one for each pattern that matches `payload`."""
    specific, general = (
        ", ".join(
            f"({literals.text(pattern.kind)}, {hashes_of(pattern)})"
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
