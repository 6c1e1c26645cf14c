"""API keys: credentials with permissions, of one organization or of the whole instance."""
