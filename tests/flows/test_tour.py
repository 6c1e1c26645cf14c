"""The commands of README, tour and people, one by one, on a deployment without demonstration."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from devstack.ports import free_port
from devstack.up.deployment import Deployment
from tests.support import markdown
from tests.support.markdown import PROJECT, Block
from tests.support.stack import stack_directory

pytestmark = [
    pytest.mark.flow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the tour is made with curl"),
]

# One reader follows them in this order. Only this part of the README talks to the service.
README_SECTION = "Send an event, read a score"
DOCUMENTS = ("docs/use/tour.md", "docs/use/people.md")
# An answer may differ from the document after one of these: an omission, a count of the
# demonstration, an id, a moment.
VARYING = re.compile(r"…|(?<=:)\d\d|[0-9a-f]{8}-|[0-9a-f]{32}|\d{12}|\d{4}-\d\d-\d\dT")
# Marks the end of the output of a block.
END = "--- end of block ---"
CURL = 'curl() { command curl --silent --show-error "$@" && echo; }'


def wait_until(check: str) -> str:
    """Repeats a command until it succeeds, for at most a minute."""
    return f"""
deadline=$((SECONDS + 60))
until {check}; do
  [ $SECONDS -lt $deadline ] || {{ echo {shlex.quote(f"never: {check}")} >&2; exit 1; }}
  sleep 0.2
done
"""


def wait_for(path: str, what: str) -> str:
    """Waits until the answer of a path contains the text."""
    return wait_until(f"""curl -H "$auth" "$URL/{path}" | grep -q '{what}'""")


# Text in a command → the wait before it. A reader takes longer than a script does.
WAITS = {
    "evaluations?session_id=hello-1": wait_for("evaluations?session_id=hello-1", '"status":"done"'),
    "errored=true": wait_for("sessions?session_id=tour-1", '"latest_evaluation":{'),
    "mailed_code": wait_until("grep -q mailed_code .devstack/logs/worker.log"),
    "alerts/$ALERT/incidents": wait_for("alerts/$ALERT/incidents", '"state":"firing"'),
    "lookback_window_secs": wait_for("sessions?session_id=tour-4", '"event_count":4'),
    "audits/$AUDIT/runs": wait_for("audits/$AUDIT/runs", '"status":"succeeded"'),
}


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """The service with the example evaluator, on free ports in a new directory."""
    given = {"PATH": os.environ["PATH"], "PORT": str(free_port()), "OTLP_GRPC_PORT": "0"}
    said: list[str] = []
    try:
        with stack_directory() as directory, Deployment(directory, given, said.append) as running:
            yield running
    finally:
        print("\n".join(said))  # noqa: T201 shown with a failed test


def test_the_tour_can_be_followed(deployment: Deployment, tmp_path: Path) -> None:
    tour = blocks()
    commands = [block for block in tour if block.language == "sh"]
    # The commands read files in the folder of `bin/up`.
    (tmp_path / ".devstack").symlink_to(deployment.stack.directory)

    printed = run(commands, deployment, tmp_path)

    assert len(printed) == len(commands)
    expected = answers(tour)
    for block, output in zip(commands, printed, strict=True):
        openings = expected.get(block)
        if openings is None:
            assert '{"error"' not in output, f"{block.text}\n{output}"
        else:
            begun = zip(lines(output), openings, strict=True)
            assert [line[: len(opening)] for line, opening in begun] == openings, block.text
    assert (tmp_path / "session-tour-1.jsonl").read_text().count("\n") == 5


def blocks() -> list[Block]:
    """Returns the documents' commands and answers, without the commands that set URL and key."""
    readme = markdown.section((PROJECT / "README.md").read_text(), README_SECTION)
    texts = [readme, *((PROJECT / name).read_text() for name in DOCUMENTS)]
    found = [block for text in texts for block in markdown.blocks(text)]
    kept = [block for block in found if "KEY=wpa_" not in block.text]
    assert len(found) - len(kept) == 2, "README and tour set the key once each"
    return kept


def run(commands: Sequence[Block], deployment: Deployment, folder: Path) -> list[str]:
    """Runs all blocks in one shell and returns the output of each."""
    script = [
        "set -eu",
        CURL,
        f"URL={deployment.url}/v1",
        f"KEY={deployment.admin_key}",
        'auth="Authorization: Bearer $KEY"',
        "json='Content-Type: application/json'",
    ]
    for block in commands:
        script += [wait for needing, wait in WAITS.items() if needing in block.text]
        script += [block.text, f"echo '{END}'"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(f"{END}\n")[:-1]


def answers(tour: Sequence[Block]) -> dict[Block, list[str]]:
    """Returns for each block of commands the beginnings of the answers that the document shows."""
    return {
        block: [beginning(line) for line in after.text.splitlines() if line[0] in "{["]
        for block, after in pairwise(tour)
        if block.language == "sh" and after.language == "json"
    }


def beginning(answer: str) -> str:
    """Returns the part that is the same in every run; of a list, only the bracket."""
    return "[" if answer.startswith("[") else VARYING.split(answer)[0]


def lines(output: str) -> list[str]:
    """Returns the answers of a block, one per line.

    Answers with their own line end add empty ones.
    """
    return [line for line in output.splitlines() if line]
