"""Sessions: what the events of one session id add up to, listed and exported."""
