"""Context windows: the number of tokens that a model can hold."""
