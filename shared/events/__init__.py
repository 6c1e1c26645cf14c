"""Events: what an agent did, one row each."""
