"""Asks the assistant twenty questions about the recording, and compares with SQL.

    python -m bench.assistant [--base-url URL --model NAME] [--api-key KEY]

Without --base-url a scripted model answers, which shows that tools, frames and marks work; then the
time from a token of the model to its frame is measured, and reads of the API beside eight open
turns. With --base-url a real model answers, and the table shows which of its answers were right.
"""

import os
import statistics
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import click

# Lets `python bench/assistant/__main__.py` find its neighbours.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.airline import read_events
from bench.assistant.asking import Answered, ask, frames
from bench.assistant.questions import QUESTIONS, Question
from bench.assistant.scripted import SLOW, scripted_model
from bench.deployments import deployed
from bench.ui.member import Member, new_member, signed_in_member
from shared.assistant.evidence import UNVERIFIED

_BATCH = 1500
_STORED_SECS = 60.0
_READS = 100


def fill(member: Member) -> None:
    """Sends the recording, and waits until all of it can be read."""
    lines = read_events()
    for start in range(0, len(lines), _BATCH):
        member.post(lines[start : start + _BATCH])
    deadline = time.monotonic() + _STORED_SECS
    while member.run("SELECT count() FROM events") != len(lines):
        if time.monotonic() > deadline:
            raise SystemExit("the recording was not stored in time")
        time.sleep(0.2)


def measure(member: Member) -> list[tuple[Question, object, Answered]]:
    """Asks every question; returns each with its true answer and the one that came."""
    return [
        (question, member.run(question.sql), ask(member, question.text)) for question in QUESTIONS
    ]


def print_table(asked: list[tuple[Question, object, Answered]]) -> None:
    """Prints one line for each question, and their number."""
    right = 0
    for question, truth, answered in asked:
        is_right = question.is_answered_by(answered.text, truth)
        right += is_right
        mark = "unverified number" if UNVERIFIED in answered.text else ""
        verdict = "right" if is_right else f"WRONG: {answered.text or answered.last}"[:120]
        click.echo(f"{question.text:<75} {truth!s:<24} {verdict} {mark} {answered.secs:.2f} s")
    click.echo(f"{right} of {len(asked)} right")


def delays(member: Member) -> list[float]:
    """Returns the milliseconds from a word of the model to its frame; both know the machine's time.

    A word is held back until the blank behind it, so each frame is compared with its own words.
    """
    found = []
    for at, frame in frames(member, SLOW):
        words = frame.get("text", "").split()
        found += [(at - float(one)) * 1000 for one in words if one[:1].isdigit() and "." in one]
    return found


def reads(member: Member) -> float:
    """Returns the median of the milliseconds of a page of sessions."""
    took = []
    for _ in range(_READS):
        began = time.perf_counter()
        member.get("/v1/sessions?limit=20")
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def print_figures(member: Member, others: list[Member]) -> None:
    """Prints delays of frames, and reads alone and beside open turns."""
    alone = reads(member)
    turns = [threading.Thread(target=lambda one=one: list(frames(one, SLOW))) for one in others]
    for turn in turns:
        turn.start()
    time.sleep(1)
    beside = reads(member)
    for turn in turns:
        turn.join()
    late = sorted(delays(member))
    click.echo(f"frame after its token: p50 {statistics.median(late):.0f} ms, max {late[-1]:.0f}")
    click.echo(f"/sessions alone {alone:.1f} ms, beside {len(others)} turns {beside:.1f} ms")


@click.command(help=__doc__.splitlines()[0] if __doc__ else None)
@click.option("--base-url", help="an OpenAI-compatible server; default: a scripted model")
@click.option("--model", default="scripted")
@click.option("--api-key", default="", help="default: $ASSISTANT_API_KEY")
def main(base_url: str | None, model: str, api_key: str) -> None:
    """Starts a deployment, asks and prints."""
    with ExitStack() as stack:
        url = base_url or stack.enter_context(scripted_model())
        key = api_key or os.environ.get("ASSISTANT_API_KEY", "")
        deployment = stack.enter_context(
            deployed(ASSISTANT_BASE_URL=url, ASSISTANT_MODELS=model, ASSISTANT_API_KEY=key)
        )
        member = signed_in_member(deployment)
        fill(member)
        print_table(measure(member))
        if base_url is None:
            # Two turns of a person are allowed at once.
            people = [new_member(deployment, member, f"p{n}@example.com") for n in range(4)]
            print_figures(member, [one for one in people for _ in range(2)])


if __name__ == "__main__":
    main()
