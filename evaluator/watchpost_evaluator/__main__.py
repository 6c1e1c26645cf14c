"""The command `watchpost-evaluator`."""

from __future__ import annotations

import sys

from watchpost_evaluator import cli


def main() -> int:
    """Runs the command of `sys.argv` and returns its exit status."""
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
