"""Turns of the assistant: calls of the language model, and of the tools that it asks for."""
