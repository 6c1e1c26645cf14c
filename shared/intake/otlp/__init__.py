"""OpenTelemetry's spans and log records: how they arrive, and how they become events."""
