"""The options that say whom an agent works for, its release, tags and attributes.

They count for imported events that do not say it themselves. Nothing is guessed from the machine.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

from watchpost_collect.errors import UsageError

# The limits of Watchpost, which would refuse each file for a wrong value.
_USER, _VERSION, _TAG, _VALUE, _MOST = 256, 128, 64, 256, 32
_KEY = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")


@dataclass(frozen=True)
class Dimensions:
    """The values of the options."""

    user: str | None = None
    agent_version: str | None = None
    tags: Sequence[str] = ()
    attributes: Sequence[tuple[str, str]] = ()

    @property
    def query(self) -> dict[str, str | None]:
        """Returns the parameters of an import."""
        tags = ",".join(tag.replace(",", "\\,") for tag in self.tags)
        return {
            "user_id": self.user,
            "agent_version": self.agent_version,
            "tags": tags or None,
            **{f"attr.{key}": value for key, value in self.attributes},
        }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command."""
    group = parser.add_argument_group("of imported events that do not say it themselves")
    group.add_argument("--user", type=_text(_USER), metavar="U", help="whom the agent works for")
    group.add_argument("--agent-version", type=_text(_VERSION), metavar="V", help="its release")
    group.add_argument(
        "--tag", action="append", type=_tag, metavar="T", default=[], help="may be repeated"
    )
    group.add_argument(
        "--attribute",
        action="append",
        type=_attribute,
        metavar="K=V",
        default=[],
        help="a key and a value; may be repeated",
    )


def read_options(given: argparse.Namespace) -> Dimensions:
    """Returns the values of the options. Raises `UsageError` for too many of one."""
    for option, values in (("--tag", given.tag), ("--attribute", given.attribute)):
        if len(values) > _MOST:
            raise UsageError(f"{option} may be given at most {_MOST} times")
    return Dimensions(given.user, given.agent_version, given.tag, given.attribute)


def _text(most: int) -> Callable[[str], str]:
    def check(text: str) -> str:
        if not 1 <= len(text) <= most or not text.isprintable():
            raise argparse.ArgumentTypeError(
                f"{text!r} must have 1 to {most} characters, none of them a control character"
            )
        return text

    return check


def _tag(text: str) -> str:
    # Before a comma it would make one tag of two.
    if text.endswith("\\"):
        raise argparse.ArgumentTypeError(f"{text!r} must not end with a backslash")
    return _text(_TAG)(text)


def _attribute(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be KEY=VALUE, with a key of 1 to 64 characters of A-Za-z0-9_.:/-"
        )
    return key, _text(_VALUE)(value)
