"""The load of a storm that several organizations cause, with alerts and audits of their own."""
