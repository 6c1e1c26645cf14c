"""The load of a kill run that comes from exporters of OpenTelemetry."""
