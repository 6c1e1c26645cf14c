"""Kill runs: processes and stores fail at random moments, and nothing may be lost or doubled."""
