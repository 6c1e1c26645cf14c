"""OTLP as it is sent: requests in protobuf and JSON, read record by record, and their answers."""
