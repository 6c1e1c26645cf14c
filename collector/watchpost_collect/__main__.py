"""The command `watchpost-collect`. A hook must start fast, so it loads nothing of the rest."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command of `sys.argv` and returns its exit status."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:
        from watchpost_collect import hook

        return hook.main(arguments[1:])
    from watchpost_collect import cli

    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
