"""The options of `bin/up` that exclude each other, before anything starts."""

import pytest
from click.testing import CliRunner

from devstack.up.__main__ import main


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--demo", "--no-demo"), "contradict each other"),
        (("--check", "--no-demo"), "--check needs the demonstration"),
        (("--stores", "--demo"), "--stores starts no service to demonstrate"),
        (("--stores", "--check"), "--stores starts no service to demonstrate"),
    ],
)
def test_options_that_exclude_each_other(options: tuple[str, str], reason: str) -> None:
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2
    assert reason in done.output
