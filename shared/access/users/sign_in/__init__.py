"""Sign-in with a code that is sent by mail."""
