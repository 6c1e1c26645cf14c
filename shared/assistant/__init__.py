"""The assistant: questions of people and coding agents about their data, answered with evidence."""
