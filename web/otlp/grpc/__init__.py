"""OTLP over gRPC, in a process of its own (`python -m web.otlp.grpc`); needs the extra `grpc`."""
