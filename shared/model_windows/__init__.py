"""Context windows: how many tokens a model can hold."""
