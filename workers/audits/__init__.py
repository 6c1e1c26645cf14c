"""What workers of audits need beside `shared.audits.runs`."""
