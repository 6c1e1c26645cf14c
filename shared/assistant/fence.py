"""Marks around data, so that a language model can tell it from instructions."""

import secrets


class Fence:
    """A pair of marks with a random text, which nothing that is already written can know."""

    def __init__(self) -> None:
        name = f"data-{secrets.token_hex(8)}"
        self.begin, self.end = f"<{name}>", f"</{name}>"

    def around(self, text: str) -> str:
        """Returns the text between the marks."""
        return f"{self.begin}{text}{self.end}"
