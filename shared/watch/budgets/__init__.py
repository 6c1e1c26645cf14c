"""What the budgets of an organization have spent in their running periods."""
