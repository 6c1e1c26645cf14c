"""The ways in: batches of events, OpenTelemetry, imports, and the receipts of all of it."""
