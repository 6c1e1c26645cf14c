"""The path of an event from a collector's POST into ClickHouse."""
