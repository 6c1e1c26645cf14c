"""Permission sets: named grants, either built in or of one organization."""
