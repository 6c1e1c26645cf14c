"""Alert rules: the conditions under which people are notified."""
