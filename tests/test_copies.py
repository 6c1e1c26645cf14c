"""The kit for evaluators has a copy of the rule of turns: it imports nothing of the service."""

from tests.support.markdown import PROJECT

RULE = "shared/reading/sessions/turns/rule.py"
COPY = "evaluator/watchpost_evaluator/_turns.py"


def test_the_kit_has_the_same_rule_of_turns() -> None:
    same = (PROJECT / RULE).read_bytes() == (PROJECT / COPY).read_bytes()
    assert same, f"run: cp {RULE} {COPY}"
