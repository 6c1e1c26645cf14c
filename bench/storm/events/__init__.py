"""The load of a kill run that is posted to `/v1/events`."""
