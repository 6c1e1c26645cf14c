"""Sign-in at a provider of OpenID Connect: code flow with PKCE (docs/use/people.md)."""
