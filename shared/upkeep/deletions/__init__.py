"""The removal of sessions, or of all sessions that name a person, with a proof."""
