"""The kinds of triggers: each turns the rules of its kind into readings, in few statements."""
