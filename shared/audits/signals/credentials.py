"""What credentials look like, and the SQL that finds them in payloads without ever selecting one.

A pattern is specific where the text itself tells what it is; a general one, a password or a bearer
token, counts only in an event that has no specific one. The database tells hashes of what it finds.
"""

from typing import NamedTuple

from shared.audits.signals import sql


class Pattern(NamedTuple):
    """`regex` captures what is secret; `needles`: a payload without any of them has no match.

    A `regex` that begins with `(?i)` has its needles found in any case. `shown` is how every match
    begins, empty where they begin in several ways. A match but of AWS's ids has to have a digit, as
    nearly all that are made at random do, and words and placeholders do not.
    """

    kind: str
    shown: str
    needles: tuple[str, ...]
    regex: str
    is_specific: bool = True


_IN_ANY_CASE = "(?i)"
# Where a word begins, after a line break, a tab or any other character as JSON spells them too.
_START = r"(?:\b|\\[nrt]|\\u\w{4})"
# A quote of JSON within JSON has backslashes before it.
_QUOTES = r"[\"'\\]*"
PATTERNS = (
    Pattern("AWS access key", "AKIA", ("AKIA",), rf"{_START}(AKIA[A-Z0-9]{{16}})\b"),
    Pattern("AWS temporary access key", "ASIA", ("ASIA",), rf"{_START}(ASIA[A-Z0-9]{{16}})\b"),
    Pattern(
        "AWS secret key",
        "",
        # Without `s` and `k`: in any case they have a third letter each, which needles do not know.
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
        "",
        ("bearer ",),
        rf"{_IN_ANY_CASE}bearer ([A-Za-z0-9._~+/-]{{20,}})",
        is_specific=False,
    ),
    Pattern(
        "password",
        "",
        ("password", "passwd", "pwd"),
        # Not what begins like a path, a variable or a placeholder.
        rf"{_IN_ANY_CASE}(?:pa(?-i:[Ss]{{2}})w(?:or)?d|pwd){_QUOTES}\s*[:=]\s*{_QUOTES}"
        r"([A-Za-z0-9!@#%^&+=_-][^\s\"'\\,;&<>{}()\[\]|*]{5,})",
        is_specific=False,
    ),
)
# Of the ids of AWS, 16 characters of A-Z and 2-7, one in 28 has no digit; their beginning tells
# them from words. Runs of x stand where somebody has taken a secret out.
_IS_RANDOM = r"match(one, '[0-9]|^A[KS]IA') AND NOT match(one, '(?i)x{6}')"


def _matches(pattern: Pattern) -> str:
    return f"extractAll(payload, {sql.text(pattern.regex)})"


def hashes_of(pattern: Pattern) -> str:
    """SQL of an array: the hashes of the different matches in `payload`, empty without any."""
    return (
        f"arrayDistinct(arrayMap(one -> sipHash64(one), arrayFilter(one -> {_IS_RANDOM},"
        f" {_matches(pattern)})))"
    )


def may_have() -> str:
    """SQL of: `payload` has a needle of some pattern, which is cheap to tell.

    One condition for all patterns: whether a match is found never depends on which are looked for.
    """
    exact, any_case = (
        ", ".join(
            sql.text(needle)
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
    """SQL of: `payload` has a match of a specific pattern."""
    matches = ", ".join(_matches(pattern) for pattern in PATTERNS if pattern.is_specific)
    return f"arrayExists(one -> {_IS_RANDOM}, arrayConcat({matches}))"


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
