"""Statements whose rows plain Python computes too."""

from tests.security.sql.answers import combined, events, parameters

ANSWERS = {**events.ANSWERS, **combined.ANSWERS, **parameters.ANSWERS}
