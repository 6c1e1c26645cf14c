"""Routes of receipts."""
