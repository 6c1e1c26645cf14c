"""Calls for runs of organizations' own evaluators, of each kind that is called."""
