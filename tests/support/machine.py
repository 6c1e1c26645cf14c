"""Abilities of the machine that some tests need."""

from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")
_STATUS = Path("/proc/self/status")
_CAP_SYS_NICE = 23


def may_go_first() -> bool:
    """Returns whether processes may raise their priority, and Linux has sessions with one.

    In a container, root may lack the right.
    """
    if not (AUTOGROUP.exists() and _STATUS.exists()):
        return False
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return bool(int(fields["CapEff"], 16) >> _CAP_SYS_NICE & 1)
