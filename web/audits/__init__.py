"""Audits over HTTP, without their findings."""
