"""The jobs that have finished sessions scored."""
