"""Tools that read an organization's data, for the assistant and for clients of MCP.

A tool is one row of a table `TOOLS`: its name, the permission it needs, a description, the
structure of its arguments and a function. No tool writes, sends or reaches an address.
"""
