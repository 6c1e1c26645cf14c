"""The parts of audits that only workers need."""
