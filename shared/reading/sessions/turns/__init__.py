"""The turns of a session: who said what, in order, and what the tools did."""
