"""For every code, following the sentence of `evaluation_state` leads to a score."""

from collections.abc import Callable

import pytest

from shared.evaluation.evaluation_jobs.state.decision import CODES
from tests.support import evaluator as behave
from tests.support.app import Headers
from tests.support.jobs import Bench
from web.app import create_app

Step = Callable[["Person"], None]

ENDED = ("agent_start", "agent_end")


class Person:
    """Somebody who reads the session `s`, operates the deployment, and can evaluate it again."""

    def __init__(self, bench: Bench, headers: Headers) -> None:
        self.bench = bench
        self._headers = headers

    def reads(self) -> tuple[str, str]:
        """Returns code and sentence."""
        client = create_app(self.bench.runtime).test_client()
        state = client.get("/v1/sessions/s", headers=self._headers).get_json()["evaluation_state"]
        return state["code"], state["sentence"]

    def evaluates_again(self) -> None:
        """Sends the request of the button."""
        client = create_app(self.bench.runtime).test_client()
        answer = client.post("/v1/sessions/s/re-evaluate", headers=self._headers)
        assert answer.status_code == 202, answer.get_json()

    def waits(self, secs: float = 61) -> None:
        """Lets time pass, and workers run."""
        self.bench.pass_time(secs)
        self.bench.promote()
        self.bench.run()


@pytest.fixture
def person(bench: Bench, key: Callable[..., Headers]) -> Person:
    return Person(bench, key("evaluations:read", "evaluations:trigger"))


def _scored(person: Person) -> None:
    person.bench.enqueue("s")
    person.bench.run()


def _failed(person: Person) -> None:
    person.bench.evaluator.script = [behave.reply(400, b"no such model")]
    person.bench.enqueue("s")
    person.bench.run()


def _timed_out(person: Person) -> None:
    person.bench.configure(evaluator_max_poll_duration_secs=1)
    person.bench.evaluator.script = [behave.pending("theirs", 1)] * 2
    person.bench.enqueue("s")
    person.bench.run()
    person.waits()


def _polled(person: Person) -> None:
    person.bench.evaluator.script = [behave.pending("theirs", 5)]
    person.bench.enqueue("s")
    person.bench.run()


def _called(person: Person) -> None:
    person.bench.enqueue("s")
    person.bench.sql(
        "UPDATE evaluation_jobs SET lease_expires_at = now() + interval '30 s',"
        " lease_token = gen_random_uuid() WHERE org_id = :org_id"
    )


def _result_is_gone(person: Person) -> None:
    person.bench.store("s", "agent_start")
    person.bench.sql("UPDATE watched_sessions SET evaluated = true WHERE org_id = :org_id")


def _without(*types: str, **settings: object) -> Step:
    def arrange(person: Person) -> None:
        person.bench.configure(**settings)
        person.bench.store("s", *types)

    return arrange


def _settling(person: Person) -> None:
    person.bench.store("s", *ENDED)
    # Longer than a slow machine needs to read the state.
    person.bench.sql(
        "UPDATE watched_sessions SET check_at = now() + interval '30 s' WHERE org_id = :org_id"
    )


def _before_evaluator(person: Person) -> None:
    person.bench.configure(evaluator_endpoint=None)
    person.bench.store("s", "agent_start", "tool_use")
    person.bench.sql("DELETE FROM watched_sessions WHERE org_id = :org_id")
    person.bench.configure()


def _configures_and_evaluates_again(person: Person) -> None:
    person.bench.configure()
    person.evaluates_again()
    person.bench.run()


def _evaluates_again(person: Person) -> None:
    person.evaluates_again()
    person.bench.run()


def _ends(person: Person) -> None:
    person.bench.store("s", "agent_end")
    person.waits()


def _waits(person: Person) -> None:
    person.waits()


# For each code: what leads to it, what its sentence contains, and what it asks for.
ADVICE: dict[str, tuple[Step, str, Step]] = {
    "scored": (_scored, "scored", _waits),
    "error": (_failed, "evaluate the session again", _evaluates_again),
    "timeout": (_timed_out, "evaluate the session again", _evaluates_again),
    "queued": (lambda person: person.bench.enqueue("s"), "a worker", _waits),
    "calling": (_called, "Wait", _waits),
    "polling": (_polled, "is asked for its result", _waits),
    "not_ended": (_without("agent_start"), "send its agent_end", _ends),
    "settling": (_settling, "is evaluated as soon as", _waits),
    "disabled": (
        _without("agent_start", evaluator_endpoint=None),
        "Set EVALUATOR_ENDPOINT. Evaluate it again once nothing has arrived for 60 s.",
        _configures_and_evaluates_again,
    ),
    "not_for_organization": (
        _without(*ENDED, evaluator_orgs="others"),
        "Add it to EVALUATOR_ORGS. Evaluate it again",
        _configures_and_evaluates_again,
    ),
    "before_evaluator": (
        _before_evaluator,
        "Evaluate it again once nothing has arrived for 60 s.",
        _evaluates_again,
    ),
    "waiting": (_result_is_gone, "Evaluate it again", _evaluates_again),
}


def test_every_code_is_tried() -> None:
    assert set(ADVICE) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_advice_leads_to_a_score(person: Person, code: str) -> None:
    arrange, advice, follow = ADVICE[code]
    arrange(person)
    found, sentence = person.reads()
    assert found == code
    assert advice in sentence
    follow(person)
    assert person.reads()[0] == "scored"
