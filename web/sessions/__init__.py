"""Sessions: list, export and evaluate them."""
