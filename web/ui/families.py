"""Prints `src/api/families.ts`, the families of events: `python -m web.ui.families`."""

import json
import sys
from dataclasses import asdict

from shared.reading.events.families import FAMILIES

_NOTE = "// Made by `bin/ui` from `shared/reading/events/families.py`. Do not edit.\n"
# The rest concerns the service only.
_FIELDS = ("noun", "start", "end", "key", "name", "kind", "measured")


def families() -> str:
    """Returns the text of `families.ts`: a row for each family, in the order of the table."""
    rows = "".join(_row(asdict(family)) for family in FAMILIES)
    return f"{_NOTE}\nexport const FAMILIES = [\n{rows}] as const;\n"


def _row(family: dict[str, object]) -> str:
    fields = "".join(f"    {name}: {json.dumps(family[name])},\n" for name in _FIELDS)
    return f"  {{\n{fields}  }},\n"


def main() -> None:
    """Prints the module."""
    sys.stdout.write(families())


if __name__ == "__main__":
    main()
