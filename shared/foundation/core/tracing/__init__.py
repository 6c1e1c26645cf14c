"""Traces of Watchpost itself, sent to a collector of OpenTelemetry; off without an endpoint.

Code calls `spans`. `exporter` switches it on in a process, and `live` makes the spans then.
"""
