"""The command `hook`: keeps the event of a Claude Code hook in a file for `watch`.

Claude Code waits for it at every step. So it loads little, talks to no network, says nothing and
always ends with 0.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress

MAX_INPUT_BYTES = 1024 * 1024
_AGENT = "claude-code"
_KEEP_MARKS_SECS = 30 * 24 * 3600
_FOLDER = os.O_RDONLY | os.O_DIRECTORY

# For each hook: the type of the event, and its fields with the hook's fields that they come from.
EVENTS: dict[str, tuple[str, dict[str, str]]] = {
    "UserPromptSubmit": ("human_input", {"response": "prompt"}),
    "PreToolUse": (
        "tool_use",
        {"tool_name": "tool_name", "tool_call_id": "tool_use_id", "input": "tool_input"},
    ),
    "PostToolUse": (
        "tool_result",
        {
            "tool_name": "tool_name",
            "tool_call_id": "tool_use_id",
            "input": "tool_input",
            "output": "tool_response",
            "duration_ms": "duration_ms",
        },
    ),
    "Notification": ("human_wait", {"prompt": "message", "reason": "notification_type"}),
    "SubagentStop": (
        "agent_end",
        {
            "summary": "last_assistant_message",
            "subagent_id": "agent_id",
            "subagent_type": "agent_type",
        },
    ),
    "Stop": ("agent_end", {"summary": "last_assistant_message"}),
    "SessionEnd": ("agent_end", {"reason": "reason"}),
    "PreCompact": (
        "context_compacted",
        {"trigger": "trigger", "instructions": "custom_instructions"},
    ),
}

HELP = """\
usage: watchpost-collect hook [EVENT] [--spool DIR] [--print-settings]

Reads the JSON of a Claude Code hook (at most 1 MiB) from standard input and keeps it as an event in
a file for `watchpost-collect watch`. It says nothing, needs no network, and always ends with 0.

EVENT             the hook's name; default: hook_event_name of the input
--spool DIR       folder of the files; default: ~/.watchpost/spool/events
--print-settings  write what to paste into ~/.claude/settings.json
"""


def main(arguments: list[str]) -> int:
    """Keeps the event of standard input. Always returns 0."""
    with suppress(BaseException):  # an agent's step must never fail because of this
        _run(arguments)
    return 0


def _run(arguments: list[str]) -> None:
    spool = None
    named = None
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-h", "--help"):
            sys.stdout.write(HELP)
            return
        if argument == "--spool":
            spool = next(rest, None)
        elif argument.startswith("--spool="):
            spool = argument[len("--spool=") :]
        elif not argument.startswith("-"):
            named = argument
    if "--print-settings" in arguments:
        sys.stdout.write(settings(spool))
        return
    folder = os.path.expanduser(spool or "~/.watchpost/spool/events")
    data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    while sys.stdin.buffer.read(MAX_INPUT_BYTES):  # or the agent could not write the rest
        pass
    keep(data, named, folder)


def keep(data: bytes, named: str | None, folder: str) -> None:
    """Writes the events of one hook to a new file of the folder.

    Input that is no hook's goes to `rejected/` in it.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # The folder was named by the user, and may be a link. It is closed when the process ends.
    spool = os.open(folder, _FOLDER)
    now = time.time_ns() // 1000
    name = f"hook-{now}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
    try:
        events = _events(data, named, now, spool)
    except ValueError as error:
        rejected = _made_below(spool, "rejected")
        _write(rejected, f"{name}.reason", f"{error}\n".encode())
        _write(rejected, name, data[:MAX_INPUT_BYTES])
        return
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    lines = (encoder.encode(event) + "\n" for event in events)
    # A lone surrogate has no UTF-8; Watchpost says so if that is what the hook got.
    _write(spool, name, "".join(lines).encode("utf-8", "surrogatepass"))


def _events(data: bytes, named: str | None, now: int, spool: int) -> list[dict[str, object]]:
    """Returns the hook's event, after `agent_start` if it is the session's first.

    `now` is in µs. Raises `ValueError` for input that is no hook's.
    """
    if len(data) > MAX_INPUT_BYTES:
        raise ValueError("the hook's input is longer than 1 MiB; this is its start")
    try:
        given = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the hook's input is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ValueError("the hook's input is no JSON object")  # noqa: TRY004
    session, hook = given.get("session_id"), named or given.get("hook_event_name")
    if not isinstance(session, str) or not session or not isinstance(hook, str):
        raise ValueError("the hook's input names no session or no event")
    event_type, fields = EVENTS.get(hook, ("hook_triggered", {}))
    event = _event(session, event_type, now, hook, given)
    event.update((name, given[field]) for name, field in fields.items() if field in given)
    if event_type == "agent_end":
        event["outcome"] = "success"
    elif event_type == "tool_result":
        event.update(_error(given.get("tool_response")))
    elif event_type == "hook_triggered":
        event.update(hook_name=_AGENT, trigger_event=hook, input=given)
    if not _is_first(session, spool, ends=hook == "SessionEnd"):
        return [event]
    start = _event(session, "agent_start", now - 1, hook, given)
    if hook == "UserPromptSubmit":
        start["goal"] = given.get("prompt")
    return [start, event]


def _event(
    session: str, event_type: str, now: int, hook: str, given: dict[str, object]
) -> dict[str, object]:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1_000_000))
    event: dict[str, object] = {
        "session_id": session,
        "agent_id": _AGENT,
        "type": event_type,
        "timestamp": f"{moment}.{now % 1_000_000:06d}Z",
        "source": "hook",
        "hook_event_name": hook,
    }
    if "cwd" in given:
        event["cwd"] = given["cwd"]
    return event


def _error(response: object) -> dict[str, object]:
    """Returns the field `error` of a tool that failed."""
    if isinstance(response, dict) and (response.get("is_error") or response.get("error")):
        return {"error": response.get("error") or True}
    return {}


def _is_first(session: str, spool: int, *, ends: bool) -> bool:
    """Returns whether this is the first hook of the session. An end forgets the session."""
    marks = _made_below(spool, ".sessions")
    mark = session.encode("utf-8", "replace").hex()[:200]
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL, 0o600, dir_fd=marks))
        first = True
    except FileExistsError:
        first = False
    if ends:
        os.unlink(mark, dir_fd=marks)
    elif first:
        for entry in os.scandir(marks):  # of sessions that never ended
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - _KEEP_MARKS_SECS:
                os.unlink(entry.name, dir_fd=marks)
    return first


def _made_below(spool: int, name: str) -> int:
    """Returns the descriptor of a folder below, which is made for this user alone if it is missing.

    Raises `OSError` if it is a link or another user's, as `folder.made_below` does; that module
    would load `pathlib`. It is closed when the process ends, at once.
    """
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=spool)
    below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=spool)
    if os.fstat(below).st_uid != os.geteuid():
        raise PermissionError(f"{name}/ belongs to another user")
    return below


def _write(folder: int, name: str, data: bytes) -> None:
    """Makes a file that is complete on disk when it gets its name."""
    hidden = f".{name}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(hidden, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)


def settings(spool: str | None) -> str:
    """Returns the JSON for Claude Code's settings that runs this program at each hook."""
    from shlex import quote

    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) == "watchpost-collect":
        command = quote(called)
    else:
        command = f"{quote(sys.executable)} -m watchpost_collect"
    place = f" --spool {quote(os.path.abspath(spool))}" if spool else ""
    hooks = {}
    for event in EVENTS:
        entry = {"type": "command", "command": f"{command} hook {event}{place}", "timeout": 10}
        matcher = {"matcher": "*"} if event in ("PreToolUse", "PostToolUse") else {}
        hooks[event] = [{**matcher, "hooks": [entry]}]
    return json.dumps({"hooks": hooks}, indent=2) + "\n"
