"""Statements whose rows plain Python knows too."""

from tests.security.sql.answers import combined, events, parameters

ANSWERS = {**events.ANSWERS, **combined.ANSWERS, **parameters.ANSWERS}
