"""The foundation of everything else: the stores, the queue, settings, errors, time."""
