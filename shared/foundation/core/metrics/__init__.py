"""Numbers about a process and the deployment, for a monitoring system; off without METRICS_PORT.

`catalogue` is the closed list. `exporter` switches it on in a process and serves it.
"""
