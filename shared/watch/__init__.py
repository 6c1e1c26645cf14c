"""The search for trouble: alerts, audits, and the incidents that they open."""
