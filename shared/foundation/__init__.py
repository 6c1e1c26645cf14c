"""What everything stands on: the stores, the queue, settings, errors, time."""
