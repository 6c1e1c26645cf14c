"""The redaction of values that an organization never wants to store."""
