"""Events: one row for each step of an agent."""
