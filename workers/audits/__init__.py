"""What workers of audits need beside `shared.auditing`."""
