"""Conversations with the assistant; each belongs to one person in one organization."""
