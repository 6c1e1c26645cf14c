"""The five kinds of triggers, which turn rules into readings."""
