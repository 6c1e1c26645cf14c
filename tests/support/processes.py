"""Separate processes of the deployment, as the Procfile starts them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from shared.foundation.core.config import Settings


@contextmanager
def running(
    module: str, *arguments: str, settings: Settings, log: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process of the deployment and kills it at the end. `log` gets its output."""
    variables = {
        name.upper(): str(value)
        for name, value in msgspec.structs.asdict(settings).items()
        if value is not None
    }
    with (
        Path(log or os.devnull).open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stderr=said,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition: Callable[[], bool], secs: float = 120) -> None:
    """Waits until the condition holds. Fails after `secs`."""
    deadline = time.monotonic() + secs
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.05)
