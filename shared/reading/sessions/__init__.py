"""Sessions: lists and exports of the events with one session id."""
