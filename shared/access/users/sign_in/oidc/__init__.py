"""Sign-in at a provider of OpenID Connect: authorization code flow with PKCE (docs/sign-in.md)."""
