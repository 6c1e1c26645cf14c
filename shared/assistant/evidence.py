"""Compares an answer with what the tools returned, word by word, while it is written.

A number that no tool returned and no question names is marked, and a link to another place than the
organization's pages is removed: a model that obeys a payload can neither invent a figure without a
mark, nor lead anybody to an address.
"""

import math
import re
from collections.abc import Iterable

UNVERIFIED = "(unverified)"
REMOVED_LINK = "(link removed)"

_NUMBER = re.compile(r"(?<![\w./:#-])(\d[\d,]*(?:\.\d+)?)(%|k\b|M\b)?(?![\w:-]|\.\d)")
_ANY_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MARKED = re.compile(f"{_NUMBER.pattern} {re.escape(UNVERIFIED)}")
_LINK = re.compile(r"\]\(([^)\s]*)\)?")
# Browsers resolve these segments, also percent-encoded, and read a backslash as a slash.
_LEAVES_ITS_FOLDER = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)|\\", re.IGNORECASE)
_SCALES = {"%": 100.0, "k": 1e-3, "M": 1e-6, "": 1.0}
# Durations are returned in milliseconds, and people read seconds and minutes.
_UNITS = (1.0, 1e-3, 1 / 60_000)


class Evidence:
    """The numbers that a turn has seen. Text passes through `pass_on`, the rest through `rest`."""

    def __init__(self, org_path: str) -> None:
        self._org_path = org_path
        self._seen: set[float] = set()
        self._held = ""
        self._in_code = False
        self._line_begins = True

    def saw(self, text: str) -> None:
        """Notes the numbers of a tool's result, or of the question."""
        self._seen.update(
            value for found in _ANY_NUMBER.findall(text) if math.isfinite(value := float(found))
        )

    def said(self, text: str) -> None:
        """Notes the numbers of an earlier answer, but none that it marked."""
        self.saw(_MARKED.sub("", text))

    def counted(self, counts: Iterable[int]) -> None:
        """Notes numbers of rows."""
        self._seen.update(map(float, counts))

    def pass_on(self, text: str) -> str:
        """Returns what may be shown of the text so far; holds an unfinished word back."""
        whole = self._held + text
        end = max(whole.rfind(blank) for blank in " \n\t") + 1
        self._held = whole[end:]
        return self._checked(whole[:end])

    def rest(self) -> str:
        """Returns the word that was held back."""
        held, self._held = self._held, ""
        return self._checked(held)

    def _checked(self, text: str) -> str:
        return "".join(self._checked_word(word) for word in re.split(r"(\s+)", text) if word)

    def _checked_word(self, word: str) -> str:
        if word.isspace():
            self._line_begins = self._line_begins or "\n" in word
            return word
        begins, self._line_begins = self._line_begins, False
        shown = _LINK.sub(self._kept_link, word)
        was_code = self._in_code
        if word.count("`") % 2:
            self._in_code = not self._in_code
        # Numbers of ordered lists, of code and of addresses are no figures.
        if was_code or self._in_code or "`" in word or "](" in word:
            return shown
        if begins and re.fullmatch(r"\d{1,3}[.)]", word):
            return shown
        return _NUMBER.sub(self._marked, shown)

    def _kept_link(self, match: re.Match[str]) -> str:
        path = re.split(r"[?#]", match[1], maxsplit=1)[0]
        stays = path.startswith(self._org_path) and not _LEAVES_ITS_FOLDER.search(path)
        return match[0] if stays and match[0].endswith(")") else f"] {REMOVED_LINK}"

    def _marked(self, match: re.Match[str]) -> str:
        digits, scale = match[1].replace(",", ""), match[2] or ""
        places = len(digits.partition(".")[2])
        return match[0] if self._knows(float(digits), scale, places) else f"{match[0]} {UNVERIFIED}"

    def _knows(self, value: float, scale: str, places: int) -> bool:
        if value in self._seen:
            return True
        factors = [_SCALES[scale]] if scale else _UNITS
        return any(
            abs(seen * factor - value) <= 0.5 * 10**-places + 1e-9
            and (factor != 1.0 or places > 0 or not float(seen).is_integer())
            for seen in self._seen
            for factor in factors
        )
