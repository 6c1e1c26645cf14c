"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from watchpost_evaluator import __version__, cases, catalogue, serving, trying, worker
from watchpost_evaluator.connection import read_target
from watchpost_evaluator.definition import DEFAULT_MODULE, chosen, load
from watchpost_evaluator.errors import KitError, UsageError

_EPILOG = f"""\
MODULE is package.module, or the path of a file; default: {DEFAULT_MODULE} in this folder.
exit status: 0 all is well, 1 something failed or differs, 2 wrong usage, 3 the key was refused,
4 Watchpost is unreachable
"""


def main(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
    except KitError as error:
        sys.stderr.write(f"watchpost-evaluator: {error}\n")
        return error.status
    except KeyboardInterrupt:
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="watchpost-evaluator",
        description="Scores sessions of AI agents for Watchpost, with functions in Python.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    _add_try(command("try", "run evaluators here, on sessions, and store nothing"))
    _add_test(command("test", "run the cases of a folder"))
    _add_serve(command("serve", "answer the calls of Watchpost, for evaluators of the kind push"))
    _add_work(command("work", "take sessions from Watchpost, for evaluators of the kind pull"))
    _add_templates(command("templates", "list, print or copy evaluators to begin with"))
    return parser


def _add_module(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", nargs="?", metavar="MODULE", help="with the evaluators")


def _add_try(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_try)
    _add_module(parser)
    parser.add_argument(
        "--session",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="of Watchpost; needs WATCHPOST_URL, and WATCHPOST_KEY with events:read",
    )
    parser.add_argument(
        "--file",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="EXPORT",
        help="a session that GET /v1/sessions/ID/export gave",
    )
    parser.add_argument("--evaluator", metavar="KEY", help="only this one; or KEY@VERSION")
    parser.add_argument("--json", action="store_true", help="write JSON, one object a line")


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_test)
    _add_module(parser)
    parser.add_argument(
        "--cases", type=Path, default=Path("cases"), metavar="DIR", help="default: cases"
    )


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_serve)
    _add_module(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address; default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=9000, help="default: 9000")
    parser.add_argument(
        "--token-env", metavar="NAME", help="the variable with the token that Watchpost sends"
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_work)
    parser.epilog = f"WATCHPOST_URL and WATCHPOST_POOL_TOKEN name the pool.\n{_EPILOG}"
    _add_module(parser)
    parser.add_argument(
        "--concurrency", type=int, default=4, metavar="N", help="runs at once; default: 4"
    )
    parser.add_argument("--once", action="store_true", help="end when nothing is due")


def _add_templates(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_templates)
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the one to print or copy")
    parser.add_argument("--copy", type=Path, metavar="DIR", help="copy it, or all, to this folder")


def _try(given: argparse.Namespace) -> int:
    if not given.session and not given.file:
        raise UsageError("name a session with --session ID, or a file with --file EXPORT")
    evaluators = chosen(load(given.module), given.evaluator)
    return trying.try_on(evaluators, given.session, given.file, os.environ, as_json=given.json)


def _test(given: argparse.Namespace) -> int:
    return cases.run_cases(load(given.module), given.cases)


def _serve(given: argparse.Namespace) -> int:
    return serving.serve(load(given.module), given.host, given.port, given.token_env)


def _work(given: argparse.Namespace) -> int:
    target = read_target(os.environ, "WATCHPOST_POOL_TOKEN")
    return worker.work(load(given.module), target, given.concurrency, once=given.once)


def _templates(given: argparse.Namespace) -> int:
    found = catalogue.named(given.name)
    if given.copy is not None:
        catalogue.copy(found, given.copy)
    elif given.name is None:
        catalogue.list_all(found)
    else:
        sys.stdout.write(found[0].read())
    return 0
