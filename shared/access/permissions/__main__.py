"""`python -m shared.access.permissions` prints the catalogue for `docs/use/permissions.md`."""

import sys

from shared.access.permissions.builtin_sets import BUILTIN_SETS
from shared.access.permissions.catalogue import CATALOGUE, Permission


def permissions_table() -> str:
    """Returns a Markdown table of every permission, with its holders and its built-in sets."""
    columns = ["permission", "what it allows", "keys", *(f"`{name}`" for name in BUILTIN_SETS)]
    ruler = ["---", "---", *[":-:"] * (len(columns) - 2)]
    rows = [columns, ruler, *map(_row, CATALOGUE)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _row(permission: Permission) -> list[str]:
    held = [permission.for_keys, *_in_sets(permission)]
    return [f"`{permission.token}`", permission.description, *("✓" if yes else "" for yes in held)]


def _in_sets(permission: Permission) -> list[bool]:
    return [permission.token in one.permissions for one in BUILTIN_SETS.values()]


if __name__ == "__main__":
    sys.stdout.write(permissions_table() + "\n")
