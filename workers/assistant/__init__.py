"""The assistant's part that leaves the deployment: the client of the language model's server."""
