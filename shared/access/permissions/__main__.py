"""`python -m shared.access.permissions` prints the catalogue for `docs/use/people.md`."""

import sys

from shared.access.permissions.builtin_sets import BUILTIN_SETS
from shared.access.permissions.catalogue import CATALOGUE, Permission


def permissions_list() -> str:
    """Returns a Markdown list of every permission below the first built-in set that has it."""
    paragraphs = []
    for name in [*BUILTIN_SETS, None]:
        own = [permission for permission in CATALOGUE if _first_set(permission) == name]
        head = f"In `{name}`:" if name else "In no set:"
        paragraphs.append("\n".join([head, "", *map(_item, own)]))
    return "\n\n".join(paragraphs)


def _first_set(permission: Permission) -> str | None:
    held = (name for name, one in BUILTIN_SETS.items() if permission.token in one.permissions)
    return next(held, None)


def _item(permission: Permission) -> str:
    allowed = permission.description + ("" if permission.for_keys else " (no key can hold it)")
    return f"- `{permission.token}`: {allowed}"


if __name__ == "__main__":
    sys.stdout.write(permissions_list() + "\n")
