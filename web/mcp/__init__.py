"""The tools of the assistant for coding agents, over the Model Context Protocol."""
