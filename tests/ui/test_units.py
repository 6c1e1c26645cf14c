"""The unit tests of the client's models."""

import re

import pytest

from tests.ui.node import node, require_packages

pytestmark = pytest.mark.flow


def test_the_units_of_the_client_pass() -> None:
    require_packages()
    report = node("tools/test.mjs").stdout
    assert re.search(r"\bpass [1-9]", report)
    assert re.search(r"\bfail 0\b", report)
