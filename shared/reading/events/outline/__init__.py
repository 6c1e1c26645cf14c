"""The outline of a session: all its events without payloads, column by column."""
