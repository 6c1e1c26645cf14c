"""The canary: an event of a hidden organization that goes the whole way, again and again.

Each group of ingest processes sends one every CANARY_INTERVAL_SECS through web, Redis and
ClickHouse, and reads it back. Redis keeps when the last one came through.
"""
