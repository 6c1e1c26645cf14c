"""Deliveries: the notifications about incidents, with their targets and outcomes."""
