"""What looks for trouble: alerts, audits, and the incidents that they open."""
