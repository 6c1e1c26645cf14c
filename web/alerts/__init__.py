"""Alert rules over HTTP."""
