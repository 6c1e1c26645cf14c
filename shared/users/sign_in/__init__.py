"""Sign-in by a code that is sent by mail."""
