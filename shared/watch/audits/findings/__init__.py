"""Findings of audits: filed by runs, listed, and suppressed if people do not want them."""
