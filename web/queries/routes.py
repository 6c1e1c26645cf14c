"""Saved queries: listed, made, replaced and deleted."""

from web.blueprint import Blueprint

blueprint = Blueprint("queries", "Read-only SQL over what agents did, saved or run at once")
