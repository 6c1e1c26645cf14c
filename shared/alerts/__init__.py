"""Alert rules: what people want to be told of."""
