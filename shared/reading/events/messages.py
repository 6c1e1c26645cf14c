"""The message of a failed event, and its template: the message with `<*>` for what varies.

`TEXT` is SQL of the columns `event_type` and `payload`; it is empty without a message. `TEMPLATE`
is SQL of a column `text`, which is `TEXT`.
"""

from shared.foundation.clickhouse.literals import text

# A quoted part of a message may be long, and the text after it may distinguish errors. A template
# longer than needed to distinguish them is of no use.
_MESSAGE_CHARS, _TEMPLATE_CHARS = 4000, 160
# Marks the place where a longer message was cut.
_CUT = "\x03"
# The variable parts. At each position the first match counts.
_VARYING = (
    rf"\S{{0,40}}{_CUT}",  # a word that was cut, so the rest of it is unknown
    # Credentials, even if they consist of letters only: no template shows a part of one.
    r"\b(?:A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|[rs]k_live_|sk-|AIza|ya29|eyJ)[\w./=-]{12,}",
    r"(?i:\bbearer |(?:passw(?:or)?d|pwd|secret|api_?key|_token)[\"']*\s*[:=]\s*[\"']*)\S{6,}",
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+",  # URLs
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # mail addresses
    # Quoted text, or its part before the cut if the closing quote was cut off. Apostrophes are no
    # quotes.
    rf"\"[^\"]*[\"{_CUT}]|`[^`]*[`{_CUT}]|“[^”]*[”{_CUT}]|\B'(?:[^']|\b'\b)*(?:'\B|{_CUT})",
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",  # UUIDs
    r"\B/[\w.@~-]+(?:/[\w.@~-]*)+",  # paths
    # A month next to a number; the rest of such a date has digits.
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d[\w:.]*",
    # Words with a digit, and joined sequences of them: numbers, ids, versions, addresses, moments.
    r"(?:\B[-+#$€£])?\w*\d\w*(?:[-.,:/+]\w*\d\w*)*%?",
    r"\b[0-9a-fA-F]{8,}\b",  # hexadecimal without a digit
)
_BLANKS = r"\s+"
# A list counts like one of its members.
_LIST = r"<\*>(?:(?:, |,|; | )<\*>)+"


def _replaced(value: str, pattern: str, replacement: str) -> str:
    return f"replaceRegexpAll({value}, {text(pattern)}, {text(replacement)})"


# If an error is not a text, its `message` is used, else the value itself; `true` has no meaning.
TEXT = f"""leftUTF8(toValidUTF8(coalesce(
    if(event_type = 'error', nullIf(JSONExtractString(payload, 'message'), ''), NULL),
    nullIf(JSONExtractString(payload, 'error', 'message'), ''),
    if(JSONType(payload, 'error') IN ('Bool', 'Null'), '', JSONExtractString(payload, 'error'))
)), {_MESSAGE_CHARS})"""
_MARK = f"if(lengthUTF8(text) = {_MESSAGE_CHARS}, {text(_CUT)}, '')"
_ONE_LINE = f"concat(trimBoth({_replaced('text', _BLANKS, ' ')}), {_MARK})"
_ALIKE = _replaced(_ONE_LINE, f"(?:{'|'.join(_VARYING)}){_CUT}?", "<*>")
TEMPLATE = f"leftUTF8({_replaced(_ALIKE, _LIST, '<*>')}, {_TEMPLATE_CHARS})"
