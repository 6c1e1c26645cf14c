"""The account for PostgreSQL: it refuses to run as root, so root runs it as `nobody`.

`nobody` exists on every system, so no user is added to the machine.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

_READ = stat.S_IROTH
_SEARCH = stat.S_IXOTH


@dataclass(frozen=True)
class Account:
    """An operating system user."""

    name: str
    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """Returns the user that PostgreSQL must run as, or None when the current user will do."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def make_reachable(path: Path) -> list[Path]:
    """Lets other users pass through the directories above `path`, without letting them list any.

    Returns the directories whose mode was changed, so that the caller can report them. This makes a
    clone below `/root` work. Only root may call it.
    """
    changed = []
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & _SEARCH:
            parent.chmod(mode | _SEARCH)
            changed.append(parent)
    return changed


def make_readable(tree: Path) -> None:
    """Lets other users read and run the files in `tree` (a wheel unpacked under `umask 077`)."""
    for path in [tree, *tree.rglob("*")]:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        wanted = _READ | (_SEARCH if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0)
        if mode & wanted != wanted:
            path.chmod(mode | wanted)
