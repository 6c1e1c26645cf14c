"""Rules that need M breaches of the last N evaluations, and the automatic end of incidents."""

import pytest

from shared.watch.alerts.evaluation.breaches import History, Terms


def fired(readings: str, min_breaches: int, eval_window: int) -> str:
    """Returns `!` for each reading that fires, `.` for the others. `x` is a breach, `-` none."""
    terms = Terms(min_breaches, eval_window, auto_resolve=False)
    history, told = History((), 0), ""
    for reading in readings:
        history = history.followed_by(reading == "x", terms)
        told += "!" if history.effect(terms, is_open=False) == "breach" else "."
    return told


@pytest.mark.parametrize(
    ("terms", "readings", "expected"),
    [
        ((1, 1), "-x-xx-", ".!.!!."),
        ((2, 2), "xx-xxx", ".!..!!"),
        ((2, 3), "x-x--x-xx", "..!....!!"),
        ((3, 3), "xxxx-xxx", "..!!...!"),
        ((3, 5), "x---xx-x", ".......!"),
        # A breach before the last evaluation does not fire the rule.
        ((1, 5), "x----x", "!....!"),
        ((2, 5), "xx---", ".!..."),
    ],
)
def test_enough_of_the_last_evaluations_fire(
    terms: tuple[int, int], readings: str, expected: str
) -> None:
    assert fired(readings, *terms) == expected


def test_as_many_evaluations_are_kept_as_count() -> None:
    terms = Terms(1, 3, auto_resolve=False)
    history = History((), 0)
    for breached in (True, True, False, False, True):
        history = history.followed_by(breached, terms)
    assert history.recent == (False, False, True)


@pytest.mark.parametrize(
    ("readings", "eval_window", "is_over"),
    [("x-", 1, True), ("x--", 3, False), ("x---", 3, True), ("x--x--", 3, False)],
)
def test_an_incident_is_over_after_a_window_of_clean_evaluations(
    readings: str, eval_window: int, is_over: bool
) -> None:
    terms = Terms(1, eval_window, auto_resolve=True)
    history = History((), 0)
    for reading in readings:
        history = history.followed_by(reading == "x", terms)
    assert history.effect(terms, is_open=True) == ("end" if is_over else None)
    assert history.effect(terms, is_open=False) is None
    assert history.effect(Terms(1, eval_window, auto_resolve=False), is_open=True) is None


def test_any_further_breach_belongs_to_the_open_incident() -> None:
    terms = Terms(3, 3, auto_resolve=False)
    history = History((), 0).followed_by(True, terms)
    assert history.effect(terms, is_open=True) == "breach"
    assert history.effect(terms, is_open=False) is None
