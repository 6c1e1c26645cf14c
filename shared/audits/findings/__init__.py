"""What audits find: filed by their runs, listed, and suppressed where nobody wants it."""
