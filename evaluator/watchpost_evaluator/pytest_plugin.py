"""Fixtures for tests of evaluators. pytest loads them wherever the kit is installed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable

import pytest

from watchpost_evaluator.definition import Evaluator
from watchpost_evaluator.outcome import Outcome, run
from watchpost_evaluator.session import Session, session_of
from watchpost_evaluator.trying import read_file


@pytest.fixture(scope="session")
def watchpost_session() -> Callable[[Any], Session]:
    """A function that makes a `Session` of an exported file, an export, or a list of events."""

    def make(source: Any) -> Session:
        if isinstance(source, (str, os.PathLike)):
            return read_file(Path(source))
        return session_of(json.loads(json.dumps(source)))

    return make


@pytest.fixture(scope="session")
def watchpost_evaluate(
    watchpost_session: Callable[[Any], Session],
) -> Callable[[Evaluator, Any], Outcome]:
    """A function that runs an evaluator on a `Session`, or what `watchpost_session` takes.

    It runs as Watchpost would run it: with its timeout, and an exception becomes an outcome whose
    `status` is error.
    """

    def evaluate(evaluator: Evaluator, source: Any) -> Outcome:
        session = source if isinstance(source, Session) else watchpost_session(source)
        return run(evaluator, session)

    return evaluate
