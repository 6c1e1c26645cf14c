"""The command line, except for `hook`, which has to start faster than argparse loads."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType

from watchpost_collect import __version__, dimensions, doctor, imports, state
from watchpost_collect.client import TRIES, Client
from watchpost_collect.errors import CollectorError, Stopped
from watchpost_collect.report import Report
from watchpost_collect.settings import (
    Folders,
    Target,
    default_folders,
    default_state,
    read_target,
)
from watchpost_collect.watch import Wanted, watch

_LONGEST_ENVIRONMENT = 64
_DEFAULT = ""  # of `--claude` and `--codex` without a folder
_EPILOG = """\
WATCHPOST_URL and WATCHPOST_KEY name the deployment and an API key with the permission events:add.
exit status: 0 all sent or ok, 1 something skipped, moved away, left or failed, 2 wrong usage,
3 the key was refused, 4 Watchpost is unreachable
"""


def main(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
    except CollectorError as error:
        sys.stderr.write(f"watchpost-collect: {error}\n")
        return error.status
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="watchpost-collect",
        description="Sends what AI agents leave on disk to Watchpost.",
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

    _add_watch(command("watch", "send event files, OTLP files and transcripts, as they come"))
    _add_import(command("import", "send files of any format that Watchpost reads, whole"))
    commands.add_parser("hook", help="keep the event of a Claude Code hook for `watch`")
    _add_doctor(command("doctor", "check the URL, the key, the clock and the folders"))
    return parser


def _add_watch(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_watch)
    parser.add_argument("--once", action="store_true", help="end when all is sent")
    _add_folders(parser)
    parser.add_argument(
        "--environment", type=_environment, metavar="E", help="of the transcripts' events"
    )
    dimensions.add_options(parser)
    parser.add_argument("--keep", action="store_true", help="move sent files to sent/")
    parser.add_argument(
        "--any-owner", action="store_true", help="send files of other users too, not just own ones"
    )
    _add_common(parser)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_import)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="plain or gzip")
    parser.add_argument(
        "--format", choices=imports.FORMATS, metavar="F", help=", ".join(imports.FORMATS)
    )
    parser.add_argument(
        "--environment", type=_environment, metavar="E", help="of events that name none"
    )
    dimensions.add_options(parser)
    parser.add_argument("--started-at", metavar="T", help="start of a file without times")
    parser.add_argument("--dry-run", action="store_true", help="check and count, store nothing")
    parser.add_argument(
        "--replace", action="store_true", help="store again what imports of the format stored"
    )
    _add_common(parser)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_doctor)
    _add_folders(parser)
    _add_common(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="of Watchpost; default: WATCHPOST_URL")
    parser.add_argument("--key-file", metavar="FILE", help="with the API key; or WATCHPOST_KEY")
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="own files; default: ~/.watchpost/collect"
    )
    parser.add_argument("--json", action="store_true", help="write JSON, one object a line")


def _environment(name: str) -> str:
    """Checks it here, because Watchpost would refuse each file for a wrong one."""
    if not 1 <= len(name) <= _LONGEST_ENVIRONMENT or "," in name or not name.isprintable():
        raise argparse.ArgumentTypeError(
            f"{name!r} must have 1 to {_LONGEST_ENVIRONMENT} characters and no comma"
        )
    return name


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--events",
        action="append",
        type=Path,
        metavar="DIR",
        help="folder of event files, instead of the default ones; may be repeated",
    )
    parser.add_argument(
        "--otlp",
        action="append",
        type=Path,
        metavar="DIR",
        help="folder of OTLP files, instead of the default one; may be repeated",
    )
    for name, folder in (("claude", "~/.claude/projects"), ("codex", "~/.codex/sessions")):
        parser.add_argument(
            f"--{name}",
            nargs="?",
            const=_DEFAULT,
            metavar="DIR",
            help=f"import transcripts too; default folder: {folder}",
        )


def _watch(given: argparse.Namespace) -> int:
    target = read_target(given.url, given.key_file, os.environ)
    named = dimensions.read_options(given)
    report = Report("watch", given.json)
    folder = _state_folder(given)
    state.lock(folder)
    wanted = Wanted(
        _folders(given, report),
        given.environment,
        named,
        given.once,
        given.keep,
        given.any_owner,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    with closing(_client(target, folder, report, TRIES if given.once else None)) as client:
        return watch(wanted, client, state.State(folder), report)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


def _import(given: argparse.Namespace) -> int:
    target = read_target(given.url, given.key_file, os.environ)
    named = dimensions.read_options(given)
    report = Report("import", given.json)
    wishes = imports.Wishes(
        given.format,
        given.environment,
        given.started_at,
        dry_run=given.dry_run,
        replace=given.replace,
        dimensions=named,
    )
    with closing(_client(target, _state_folder(given), report, TRIES)) as client:
        return imports.import_files(client, report, given.files, wishes)


def _doctor(given: argparse.Namespace) -> int:
    report = Report("doctor", given.json)
    folders = _folders(given, report)
    return doctor.examine(
        lambda: read_target(given.url, given.key_file, os.environ),
        folders,
        _state_folder(given),
        report,
    )


def _client(target: Target, folder: Path, report: Report, tries: int | None) -> Client:
    return Client(target, state.machine_id(folder), tries=tries, tell=report.warn)


def _state_folder(given: argparse.Namespace) -> Path:
    return (given.state or default_state(Path.home())).expanduser()


def _folders(given: argparse.Namespace, report: Report) -> Folders:
    """Returns the folders of the options, and the defaults for those that were left out."""
    defaults = default_folders(os.environ, Path.home())
    named = [*(given.events or ()), *(given.otlp or ())]
    named += [Path(name) for name in (given.claude, given.codex) if name]
    for folder in named:
        if not folder.expanduser().is_dir():
            report.warn(f"the folder {folder} does not exist; it is read once it does")

    def asked_for(name: str | None, default: Path | None) -> Path | None:
        return default if name == _DEFAULT else Path(name).expanduser() if name else None

    return Folders(
        events=tuple(path.expanduser() for path in given.events or defaults.events),
        otlp=tuple(path.expanduser() for path in given.otlp or defaults.otlp),
        claude=asked_for(given.claude, defaults.claude),
        codex=asked_for(given.codex, defaults.codex),
    )
